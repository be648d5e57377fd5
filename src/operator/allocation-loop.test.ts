/** The whole loop in one process: load, agents on simulated nodes, the operator, kubelets that resize as real ones do. */
import { expect, test } from 'vitest';
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

test('an agent that is killed: its pods keep what they have, then get back what they had', async () => {
  const world = await startAllocatedWorld({
    allocation: '  staleAfter: 80s',
  });
  await createPods(world.api, [
    { name: 'web', cpu: '700m', request: '100m' },
    { name: 'hog', cpu: '4000m', request: '900m' },
  ]);
  await world.until('web has more', async () => (await world.request('web')) > 250, 180_000);
  const killing = world.agents.kill('node-1');
  await world.clock.advance(0);
  await killing;
  const before = await world.request('web');
  await world.clock.advance(30_000);
  expect(await world.request('web')).toBe(before);
  await world.until('given back', async () => (await world.request('web')) === 100, 120_000);
  await world.until('the hog too', async () => (await world.request('hog')) === 900, 60_000);
});
