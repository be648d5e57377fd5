/** Moves while the webhook is not asked about new pods. */
import { expect, test } from 'vitest';
import { resources } from '../api/resources.ts';
import type { EmbeddedWorld } from './testing/embedded-world.ts';
import {
  annotate,
  deploy,
  eventReasons,
  firstBlock,
  MINUTE,
  patchDeployment,
  policy,
  startWorld,
  untilSides,
  untilVersion,
  versionTemplate,
} from './testing/steps.ts';

const names = ['api', 'cart', 'jobs', 'mail', 'pay', 'search', 'stock', 'web'];

/** All are to be on on-demand, and are rolled out past the webhook to wherever the scheduler likes. */
async function rollOutUnsteered(): Promise<EmbeddedWorld> {
  const world = await startWorld();
  for (const name of [...names, 'new']) await deploy(world, 4, policy(0), name);
  world.setWebhookUp(false);
  for (const name of names) await patchDeployment(world, { template: versionTemplate('2') }, name);
  for (const name of names) await untilVersion(world, name, '2', 4);
  return world;
}

const wrongSides = async (world: EmbeddedWorld): Promise<number> => {
  let spot = 0;
  for (const name of names) spot += (await world.sides('shop', name)).spot;
  return spot;
};

test('after those that were under way one move in a growing while finds out, of all workloads together', async () => {
  const world = await rollOutUnsteered();
  expect(await wrongSides(world)).toBeGreaterThan(names.length);
  await world.clock.advance(60 * MINUTE);
  // Five at once, and tries 1, 3, 7, 15 and 31 minutes later.
  expect(world.evictions.length).toBeGreaterThan(1);
  expect(world.evictions.length).toBeLessThanOrEqual(10);
  expect(names.map((name) => firstBlock(world, 'Deployment', name))).toContain('NewPodsMissAdmission');
  expect(await eventReasons(world)).toContain('NewPodsMissAdmission');

  const before = world.evictions.length;
  const wrong = await wrongSides(world);
  world.setWebhookUp(true);
  // Any new pod shows that it is asked again.
  await patchDeployment(world, { replicas: 5 }, 'new');
  await world.clock.advance(15_000);
  expect(world.evictions.length).toBeGreaterThan(before);
  await world.clock.advance(60 * MINUTE);
  for (const name of names) await untilSides(world, name, 0, 4);
  expect(world.evictions.length - before).toBe(wrong);
});

test('a try finds out by itself that the webhook is back', async () => {
  const world = await rollOutUnsteered();
  await world.clock.advance(5 * MINUTE);
  const before = world.evictions.length;
  world.setWebhookUp(true);
  const wrong = await wrongSides(world);
  await world.clock.advance(30 * MINUTE);
  for (const name of names) await untilSides(world, name, 0, 4);
  expect(world.evictions.length - before).toBe(wrong);
});

test('a workload that the selectors of the webhook leave out holds up no other for long', async () => {
  const world = await startWorld();
  const name = 'spotalis-mutating-webhook';
  const configuration = await world.api.get(resources.mutatingWebhookConfigurations, name);
  const objectSelector = { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['api'] }] };
  const webhooks = configuration.webhooks?.map((webhook) => ({ ...webhook, objectSelector }));
  await world.api.patch(resources.mutatingWebhookConfigurations, name, { type: 'merge', body: { webhooks } });
  await deploy(world, 4, policy(0), 'web');
  await deploy(world, 8, policy(0), 'api');
  await world.until('the webhook is missed', async () => (await eventReasons(world)).includes('NewPodsMissAdmission'));
  const own = world.evictions.length;
  // Longer than the first pause; once it has passed the webhook, what is left out is known.
  await annotate(world, policy(100, 0), 'web');
  await untilSides(world, 'web', 4, 0);
  expect(own).toBeGreaterThan(0);
  await world.clock.advance(20 * MINUTE);
  await annotate(world, policy(0), 'web');
  const asked = world.clock.now();
  await untilSides(world, 'web', 0, 4);
  expect(world.clock.now() - asked).toBeLessThan(2 * MINUTE);
});
