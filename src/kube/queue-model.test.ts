import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSilentLogger } from '../lib/log.ts';
import { createSeededRandom } from '../lib/random.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createWorkQueue } from './queue.ts';

test('for any interleaving, no key runs beside itself and every addition is followed by a later run', async () => {
  const step = fc.oneof(
    fc.record({
      kind: fc.constant('add' as const),
      key: fc.constantFrom('a', 'b', 'c'),
      priority: fc.integer({ min: 0, max: 2 }),
    }),
    fc.record({
      kind: fc.constant('after' as const),
      key: fc.constantFrom('a', 'b', 'c'),
      priority: fc.integer({ min: 1, max: 50 }),
    }),
    fc.record({
      kind: fc.constant('advance' as const),
      key: fc.constant(''),
      priority: fc.integer({ min: 1, max: 30 }),
    }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 40 }),
      fc.integer({ min: 1, max: 3 }),
      fc.nat(),
      async (steps, workers, seed) => {
        const clock = createVirtualClock(0);
        const stop = new AbortController();
        const queue = createWorkQueue({
          clock,
          random: createSeededRandom(1),
          log: createSilentLogger(),
          name: 'test',
        });
        const random = createSeededRandom(seed);
        const active = new Set<string>();
        const lastStart = new Map<string, number>();
        const lastAdd = new Map<string, number>();
        let tick = 0;
        let overlaps = 0;
        const running = queue.run(
          workers,
          async (key) => {
            // Counted, not asserted: the queue takes a throwing handler for failed work.
            if (active.has(key)) overlaps++;
            active.add(key);
            lastStart.set(key, tick++);
            await new Promise<void>((resolve) => void clock.setTimer(random.next() * 20, resolve));
            active.delete(key);
            if (random.next() < 0.2) throw new Error('sometimes');
          },
          stop.signal,
        );
        for (const { kind, key, priority } of steps) {
          if (kind === 'advance') await clock.advance(priority);
          else {
            lastAdd.set(key, tick++);
            if (kind === 'add') queue.add(key, { priority });
            else queue.addAfter(key, priority);
          }
        }
        await clock.advance(60_000);
        expect(overlaps).toBe(0);
        for (const [key, added] of lastAdd) expect(lastStart.get(key)).toBeGreaterThan(added);
        stop.abort();
        await running;
      },
    ),
    { numRuns: 60 },
  );
});
