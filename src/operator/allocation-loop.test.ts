/** The whole loop in one process: load, agents on simulated nodes, the operator, kubelets that resize as real ones do. */
import { expect, test } from 'vitest';
import { podAllocations, RENEWED_ANNOTATION } from '../api/pod-allocation.ts';
import { resources } from '../api/resources.ts';
import { createMetrics } from '../lib/metrics.ts';
import { loopsFrom, type SeenPlan } from '../simulator/simulated-agents.ts';
import { createPods, startAllocatedWorld, watchCharges } from './testing/allocated-world.ts';

const TEN_MINUTES = 600_000;

test('a pod with a wrong request beside a hog gets what it needs; constant load then ends in signs of life of the agent alone', async () => {
  const world = await startAllocatedWorld();
  const charges = watchCharges(world);
  await createPods(world.api, [
    { name: 'web', cpu: '700m', request: '100m' },
    { name: 'hog', cpu: '4000m', request: '900m' },
  ]);
  const used = (name: string): number =>
    world.cluster.kubelet.usages('node-1').find(({ pod }) => pod.metadata?.name === name)?.usedMillicores ?? 0;
  await world.clock.advance(20_000);
  // By their requests, 1 to 9, web has a tenth of the node.
  expect(used('web')).toBeLessThan(300);
  await world.until('web has what it needs', () => used('web') > 650, 180_000);
  expect(charges.most()).toBeLessThanOrEqual(2000);
  await world.clock.advance(120_000);
  const allocations = async () => (await world.api.list(podAllocations, { namespace: 'shop' })).items;
  const generations = async () => (await allocations()).map(({ metadata }) => [metadata?.name, metadata?.generation]);
  const patches = (): number =>
    world.server.accessLog
      .entries()
      .filter(({ resource, subresource }) => resource === podAllocations.plural && subresource === '')
      .filter(({ verb }) => verb === 'patch')
      .reduce((sum, { count }) => sum + count, 0);
  const [before, patchesBefore, from] = [await generations(), patches(), world.operatorWrites.length];
  await world.clock.advance(TEN_MINUTES);
  expect(world.operatorWrites.slice(from).filter((write) => !write.endsWith(' leases'))).toEqual([]);
  expect(await generations()).toEqual(before);
  // One each 30 s, one more or fewer at the edges; of each pod in turn.
  expect(Math.abs(patches() - patchesBefore - 20)).toBeLessThanOrEqual(1);
  for (const { metadata } of await allocations()) {
    const renewedAt = Date.parse(metadata?.annotations?.[RENEWED_ANNOTATION] ?? '');
    expect(world.clock.now() - renewedAt).toBeLessThan(2 * 32_000);
  }
  for (const name of ['web', 'hog']) {
    expect((await world.pod(name)).status?.containerStatuses?.[0]?.restartCount).toBe(0);
  }
});

test('a load step moves CPU within two loops, counted from the first plan that saw it', async () => {
  const plans: SeenPlan[] = [];
  const resizedAt: number[] = [];
  const world = await startAllocatedWorld({
    env: { STOWAGE_ALLOCATION_SURPLUS_SHARE: '1' },
    onPlan: (_, plan) => plans.push(plan),
    onWrite: ({ subresource, name }) => {
      if (subresource === 'resize' && name === 'web') resizedAt.push(world.clock.now());
    },
  });
  await createPods(world.api, [
    { name: 'web', cpu: '150m', request: '300m' },
    { name: 'idle', cpu: '20m', request: '400m' },
  ]);
  await world.clock.advance(120_000);
  expect(resizedAt).toEqual([]);
  expect(plans.length).toBeGreaterThan(50);
  const body = { metadata: { annotations: { 'stowage.test/cpu': '900m' } } };
  await world.api.patch(resources.pods, 'web', { type: 'merge', body }, { namespace: 'shop' });
  await world.until('resized', () => resizedAt.length > 0, 30_000);
  const loops = loopsFrom(plans, 'web', 200, resizedAt[0] ?? Number.NaN);
  expect(loops).toBeGreaterThanOrEqual(1);
  expect(loops).toBeLessThanOrEqual(2);
  await world.until('in force', async () => (await world.request('web')) > 800, 30_000);
});

test.each([
  ['is deleted', 0],
  ['takes no part any more', 1],
  ['has ended', 1],
] as const)('an agent whose only pod %s is not missed: nobody is told that it is gone', async (what, alive) => {
  const metrics = createMetrics();
  const world = await startAllocatedWorld({ metrics });
  await createPods(world.api, [{ name: 'job', cpu: '100m', spec: { restartPolicy: 'Never' } }]);
  await world.until('it takes part', async () => (await world.allocation('job'))?.status?.phase === 'Applied', 60_000);
  const inShop = { namespace: 'shop' };
  const optOut = { type: 'merge', body: { metadata: { labels: { 'mbcas.io/managed': 'false' } } } } as const;
  if (what === 'is deleted') await world.api.delete(resources.pods, 'job', inShop);
  else if (what === 'has ended') world.cluster.kubelet.endContainer('shop/job', 'app', 0);
  else await world.api.patch(resources.pods, 'job', optOut, inShop);
  await world.clock.advance(TEN_MINUTES);
  expect(await world.allocation('job')).toEqual(what === 'is deleted' ? undefined : expect.anything());
  const text = await metrics.render();
  const states = ['alive', 'silent', 'gone'].map(
    (state) => new RegExp(`^mbcas_agents.*state="${state}".* (\\d+)$`, 'm'),
  );
  expect(states.map((pattern) => Number(pattern.exec(text)?.[1]))).toEqual([alive, 0, 0]);
});
