/** Resizes that a kubelet never carries out, and pods that take no part: dealt with once, told once, on the embedded cluster. */
import { expect, test } from 'vitest';
import { createPods, startAllocatedWorld, watchCharges } from './testing/allocated-world.ts';
import { wish } from './testing/wish.ts';

test.each([
  ['allocation bug 6: a raise of the request alone, of a pod without limits (k/k#126388)', 1000],
  ['allocation bug 2: a decrease (k/k#118371)', 300],
])(
  '%s that is never in force: told after a minute, not sent again; what it frees is not given away',
  async (_, request) => {
    const world = await startAllocatedWorld({
      startsAgents: false,
      resizeMillis: 3_600_000,
      allocation: '  staleAfter: 30m',
    });
    await createPods(world.api, [
      { name: 'a', request: '900m' },
      { name: 'b', request: '900m' },
    ]);
    await world.clock.advance(5000);
    const charges = watchCharges(world);
    await wish(world, 'a', { request });
    await world.until('asked', async () => (await world.request('a')) === request, 5000);
    const askedAt = world.clock.now();
    await wish(world, 'b', { request: 1200 });
    await world.until('told', async () => (await world.events('CPUWithdrawn')).length === 1, 90_000);
    expect(world.clock.now() - askedAt).toBeGreaterThanOrEqual(59_000);
    await world.clock.advance(300_000);
    // The kubelet has admitted it, so there is nothing to take back; in force it is not, so nobody gets what it frees.
    expect((await world.allocation('a'))?.status).toMatchObject({ phase: 'Pending', reason: 'ResizeInFlight' });
    expect(await world.request('b')).toBe(900);
    expect(charges.most()).toBeLessThanOrEqual(2000);
    expect(world.resizes()).toBe(1);
    expect((await world.pod('a')).status?.containerStatuses?.[0]?.restartCount).toBe(0);
  },
);

test('mbcas bug 9: what takes no part is told once, however often it is looked at', async () => {
  const world = await startAllocatedWorld({ startsAgents: false });
  await createPods(world.api, [{ name: 'web', labels: { 'mbcas.io/managed': 'false' } }]);
  await world.clock.advance(5000);
  for (let round = 0; round < 10; round++) {
    await wish(world, 'web', { request: 600 + round });
    await world.clock.advance(30_000);
  }
  const told = await world.events('CPUSkipped');
  expect(told).toHaveLength(1);
  expect(told[0]?.series).toBeUndefined();
  expect(world.resizes()).toBe(0);
});
