/** The whole loop in one process: load, agents on simulated nodes, the operator, kubelets that resize as real ones do. */
import { expect, test } from 'vitest';
import { resources } from '../api/resources.ts';
import { loopsFrom, type SeenPlan } from '../simulator/simulated-agents.ts';
import { createPods, startAllocatedWorld, watchCharges } from './testing/allocated-world.ts';

test('a pod with a wrong request beside a hog gets what it needs; constant load then ends in no write to any pod', async () => {
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
  const sent = world.resizes();
  await world.clock.advance(120_000);
  expect(world.resizes()).toBe(sent);
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
