/** Properties of the controller, on the embedded cluster with a slow kubelet: whatever agents wish, in whatever order. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPods, startAllocatedWorld, watchCharges } from './testing/allocated-world.ts';
import { wish } from './testing/wish.ts';

const NAMES = ['a', 'b', 'c', 'd'] as const;
const ALLOCATABLE = 2000;

/** Wishes for some pods, each round after some seconds; what they add up to may be more than there is. */
const rounds = fc.array(
  fc.record({
    wishes: fc.array(
      fc.record({
        name: fc.constantFrom(...NAMES),
        request: fc.integer({ min: 20, max: 1900 }),
        urgent: fc.boolean(),
      }),
      { minLength: 1, maxLength: 4 },
    ),
    seconds: fc.integer({ min: 0, max: 8 }),
  }),
  { minLength: 2, maxLength: 5 },
);

test('P16: whatever is wished in whatever order, no prefix of what is sent takes more than the node has', async () => {
  await fc.assert(
    fc.asyncProperty(rounds, fc.constantFrom(45, 1500, 4000), async (steps, resizeMillis) => {
      const world = await startAllocatedWorld({ startsAgents: false, resizeMillis });
      await createPods(
        world.api,
        NAMES.map((name) => ({ name, request: '400m' })),
      );
      await world.clock.advance(4000);
      const charges = watchCharges(world);
      for (const { wishes, seconds } of steps) {
        for (const { name, ...fields } of wishes) await wish(world, name, fields);
        await world.clock.advance(seconds * 1000);
      }
      await world.clock.advance(20_000);
      expect(charges.most()).toBeLessThanOrEqual(ALLOCATABLE);
      // None was refused or put off by the kubelet: what does not fit is not asked for.
      expect(await world.events('CPUWithdrawn')).toEqual([]);
      expect(await world.events('CPURefused')).toEqual([]);
      for (const name of NAMES) {
        const { status } = await world.pod(name);
        expect(status?.containerStatuses?.[0]?.restartCount).toBe(0);
        expect(status?.qosClass).toBe('Burstable');
      }
      await world.stop();
    }),
    { numRuns: 12 },
  );
});

test('P17: with the same wishes, however often repeated, the pods come to rest and nothing more is sent', async () => {
  const world = await startAllocatedWorld({ startsAgents: false });
  await createPods(
    world.api,
    NAMES.map((name) => ({ name, request: '400m' })),
  );
  await world.clock.advance(4000);
  const wishes = [200, 300, 500, 900];
  const tell = async (): Promise<void> => {
    for (const [index, name] of NAMES.entries()) await wish(world, name, { request: wishes[index] ?? 100 });
  };
  await tell();
  await world.clock.advance(20_000);
  const sent = world.resizes();
  expect(await Promise.all(NAMES.map((name) => world.request(name)))).toEqual(wishes);
  for (let round = 0; round < 10; round++) {
    await tell();
    await world.clock.advance(5000);
  }
  expect(world.resizes()).toBe(sent);
});
