/** Pods that are evicted, and whose replacements are refused: by a quota, or by a webhook that is down. */
import { expect, test } from 'vitest';
import { resources } from '../api/resources.ts';
import { deploymentObject, type EmbeddedWorld, namespaceObject } from './testing/embedded-world.ts';
import { answerNewPods } from './testing/patch-new-pods.ts';
import { annotate, deploy, eventReasons, firstBlock, MINUTE, policy, startWorld, untilSides } from './testing/steps.ts';

const names = ['api', 'cart', 'jobs', 'mail', 'pay', 'search', 'stock', 'web'];
const tenants = ['bank', 'shop', 'zoo'];

/** As many Deployments of 4 as there are names, all on spot, in this namespace. */
async function deployIn(world: EmbeddedWorld, namespace: string, apps: readonly string[]): Promise<void> {
  await world.api.create(resources.namespaces, namespaceObject(namespace));
  for (const name of apps) {
    const object = deploymentObject({ name, replicas: 4, annotations: policy(100, 0) });
    const metadata = { ...object.metadata, namespace };
    await world.api.create(resources.deployments, { ...object, metadata }, { namespace });
    await world.until(`${namespace}/${name} runs`, async () => (await world.sides(namespace, name)).spot === 4);
  }
}

async function missingReplicas(world: EmbeddedWorld, namespace: string, apps: readonly string[]): Promise<number> {
  const all = await Promise.all(apps.map((name) => world.sides(namespace, name)));
  return all.reduce((sum, sides) => sum + 4 - sides.spot - sides['on-demand'], 0);
}

const wish = (namespace: string, name: string, world: EmbeddedWorld) => {
  const body = { metadata: { annotations: policy(50, 0) } };
  return world.api.patch(resources.deployments, name, { type: 'merge', body }, { namespace });
};

test('a quota that lets none be made anew: no more go in its namespace than were under way, and others go on', async () => {
  const world = await startWorld({ config: 'placement: { maxConcurrentEvictions: 2 }' });
  for (const name of names) await deploy(world, 4, policy(100, 0), name);
  await deployIn(world, 'bank', ['web']);
  const spec = { hard: { pods: '8' } };
  const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'few' }, spec } as const;
  await world.api.create(resources.resourceQuotas, quota, { namespace: 'shop' });
  for (const name of names) await annotate(world, policy(50, 0), name);
  await wish('bank', 'web', world);
  await world.clock.advance(30 * MINUTE);
  expect(world.evictions.length).toBeLessThanOrEqual(2 + 2);
  expect(await missingReplicas(world, 'shop', names)).toBeLessThanOrEqual(2);
  expect(await world.sides('bank', 'web')).toMatchObject({ spot: 2, 'on-demand': 2 });
  expect(names.map((name) => firstBlock(world, 'Deployment', name))).toContain('ReplacementMissing');
  expect(await eventReasons(world)).toContain('ReplacementMissing');

  await world.api.delete(resources.resourceQuotas, 'few', { namespace: 'shop' });
  await world.clock.advance(30 * MINUTE);
  for (const name of names) await untilSides(world, name, 2, 2);
});

test('nobody makes pods anywhere: what shows in two namespaces holds all', async () => {
  const world = await startWorld({ config: 'placement: { maxConcurrentEvictions: 2 }' });
  for (const namespace of tenants.filter((name) => name !== 'shop')) await deployIn(world, namespace, ['web']);
  for (const name of names) await deploy(world, 4, policy(100, 0), name);
  await answerNewPods(world, 'refusing', { allowed: false });

  for (const namespace of ['bank', 'shop']) await wish(namespace, 'web', world);
  await world.clock.advance(5 * MINUTE);
  expect(world.evictions).toHaveLength(2);
  await wish('zoo', 'web', world);
  for (const name of names) await wish('shop', name, world);
  await world.clock.advance(4 * MINUTE);
  expect(world.evictions).toHaveLength(2);
  // A while later one tries, and finds out.
  await world.clock.advance(30 * MINUTE);
  expect(world.evictions.length).toBeLessThanOrEqual(3);

  await world.api.delete(resources.mutatingWebhookConfigurations, 'refusing');
  await world.clock.advance(60 * MINUTE);
  for (const name of names) await untilSides(world, name, 2, 2);
  expect(await world.sides('zoo', 'web')).toMatchObject({ spot: 2, 'on-demand': 2 });
});

test('where pods are made anew, nobody hears that they are missing for a moment', async () => {
  const world = await startWorld();
  for (const name of names) await deploy(world, 4, policy(100, 0), name);
  for (const name of names) await annotate(world, policy(0, 0), name);
  for (const name of names) await untilSides(world, name, 0, 4);
  expect(world.evictions).toHaveLength(32);
  expect(await eventReasons(world)).not.toContain('ReplacementMissing');
});
