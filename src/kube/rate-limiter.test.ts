import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createRateLimiter } from './rate-limiter.ts';

const never = new AbortController().signal;

describe('createRateLimiter', () => {
  test('a burst goes at once, then one each interval, in order', async () => {
    const clock = createVirtualClock(0);
    const limiter = createRateLimiter({ qps: 10, burst: 3, reserve: 0 }, clock);
    const at: [number, number][] = [];
    for (let index = 0; index < 6; index++)
      void limiter.acquire('bulk', never).then(() => at.push([index, clock.now()]));
    await clock.advance(1_000);
    expect(at).toEqual([
      [0, 0],
      [1, 0],
      [2, 0],
      [3, 100],
      [4, 200],
      [5, 300],
    ]);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('the reserve is for control: bulk traffic waits while leases are renewed at once', async () => {
    const clock = createVirtualClock(0);
    const limiter = createRateLimiter({ qps: 1, burst: 5, reserve: 2 }, clock);
    const gone: string[] = [];
    for (let index = 0; index < 10; index++) void limiter.acquire('bulk', never).then(() => gone.push(`bulk ${index}`));
    await clock.advance(0);
    expect(gone).toEqual(['bulk 0', 'bulk 1', 'bulk 2']);
    for (let index = 0; index < 2; index++)
      void limiter.acquire('control', never).then(() => gone.push(`control ${index}`));
    await clock.advance(0);
    expect(gone.slice(3)).toEqual(['control 0', 'control 1']);
  });

  test('control that waits goes before bulk that waits', async () => {
    const clock = createVirtualClock(0);
    const limiter = createRateLimiter({ qps: 1, burst: 1, reserve: 0 }, clock);
    await limiter.acquire('bulk', never);
    const gone: string[] = [];
    void limiter.acquire('bulk', never).then(() => gone.push('bulk'));
    void limiter.acquire('control', never).then(() => gone.push('control'));
    await clock.advance(1_000);
    expect(gone).toEqual(['control']);
    await clock.advance(1_000);
    expect(gone).toEqual(['control', 'bulk']);
  });

  test('a lease goes before all that waits, however long the line is', async () => {
    const clock = createVirtualClock(0);
    const limiter = createRateLimiter({ qps: 10, burst: 2, reserve: 1 }, clock);
    const gone: string[] = [];
    for (let index = 0; index < 500; index++)
      void limiter.acquire('control', never).then(() => gone.push(`control ${index}`));
    void limiter.acquire('bulk', never).then(() => gone.push('bulk'));
    void limiter.acquire('lease', never).then(() => gone.push('lease'));
    await clock.advance(100);
    expect(gone).toEqual(['control 0', 'control 1', 'lease']);
    await clock.advance(100);
    expect(gone.at(-1)).toBe('control 2');
  });

  test('an aborted wait leaves the line, and the next in line does not wait longer for it', async () => {
    const clock = createVirtualClock(0);
    const limiter = createRateLimiter({ qps: 1, burst: 1, reserve: 0 }, clock);
    await limiter.acquire('bulk', never);
    const stop = new AbortController();
    const aborted = limiter.acquire('bulk', stop.signal);
    let isThrough = false;
    void limiter.acquire('bulk', never).then(() => {
      isThrough = true;
    });
    stop.abort(new Error('gone'));
    await expect(aborted).rejects.toThrow('gone');
    await clock.advance(1_000);
    expect(isThrough).toBe(true);
    await expect(limiter.acquire('bulk', AbortSignal.abort(new Error('never')))).rejects.toThrow('never');
    expect(limiter.waiting).toBe(0);
  });

  test.each([
    { qps: 0, burst: 1, reserve: 0 },
    { qps: 1, burst: 0, reserve: 0 },
    { qps: 1, burst: 5, reserve: 5 },
    { qps: 1, burst: 5, reserve: -1 },
    { qps: Number.NaN, burst: 5, reserve: 1 },
  ])('limits that let nothing through are refused: %j', (limits) => {
    expect(() => createRateLimiter(limits, createVirtualClock(0))).toThrow(RangeError);
  });

  test('for any traffic, never more than burst + qps x time, and everything gets through', async () => {
    const arrival = fc.record({
      waitMillis: fc.integer({ min: 0, max: 400 }),
      lane: fc.constantFrom('bulk' as const, 'control' as const),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(arrival, { maxLength: 30 }),
        fc.double({ min: 0.5, max: 50, noNaN: true }),
        fc.integer({ min: 2, max: 10 }),
        async (arrivals, qps, burst) => {
          const clock = createVirtualClock(0);
          const limiter = createRateLimiter({ qps, burst, reserve: 1 }, clock);
          const times: number[] = [];
          for (const { waitMillis, lane } of arrivals) {
            await clock.advance(waitMillis);
            void limiter.acquire(lane, never).then(() => times.push(clock.now()));
          }
          await clock.advance(200_000);
          expect(times).toHaveLength(arrivals.length);
          for (const [first, from] of times.entries()) {
            for (const [last, to] of times.entries()) {
              if (last < first) continue;
              expect(last - first + 1).toBeLessThanOrEqual(burst + ((to - from) * qps) / 1000 + 1e-6);
            }
          }
        },
      ),
      { numRuns: 40 },
    );
  });
});
