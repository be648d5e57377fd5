import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type BackoffPolicy, backoffDelay, backoffPolicies, createBackoff } from './backoff.ts';
import { createSeededRandom, type Random } from './random.ts';
import { createVirtualClock } from './virtual-clock.ts';

const constant = (value: number): Random => ({ next: () => value });

describe('backoffDelay', () => {
  test.each([
    [1, 5],
    [2, 10],
    [3, 20],
    [10, 2560],
    [18, 655_360],
    [19, 1_000_000],
    [10_000, 1_000_000],
    [0, 5],
  ])('a queue item waits after failure %d for %d ms', (failures, delay) => {
    expect(backoffDelay(backoffPolicies.queueItem, failures, constant(0.5))).toBe(delay);
  });

  test.each([
    [1, 0, 800],
    [1, 0.5, 1200],
    [2, 0, 1600],
    [6, 0, 25_600],
    [7, 0, 30_000],
    [7, 0.75, 52_500],
  ])('a reflector waits after failure %d with random %d for %d ms', (failures, random, delay) => {
    expect(backoffDelay(backoffPolicies.reflector, failures, constant(random))).toBe(delay);
  });

  test('for any policy the delay grows, stays within bound and jitter, and is finite', () => {
    const policies: fc.Arbitrary<BackoffPolicy> = fc.record({
      initialMillis: fc.integer({ min: 1, max: 1000 }),
      factor: fc.double({ min: 1, max: 4, noNaN: true }),
      maxMillis: fc.integer({ min: 1000, max: 100_000 }),
      jitter: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    fc.assert(
      fc.property(policies, fc.integer({ min: 1, max: 5000 }), fc.integer(), (policy, failures, seed) => {
        const random = createSeededRandom(seed);
        const plain = backoffDelay({ ...policy, jitter: 0 }, failures, random);
        const jittered = backoffDelay(policy, failures, random);
        expect(plain).toBeLessThanOrEqual(policy.maxMillis);
        expect(plain).toBeLessThanOrEqual(backoffDelay({ ...policy, jitter: 0 }, failures + 1, random));
        expect(jittered).toBeGreaterThanOrEqual(plain);
        // Not `plain * (1 + jitter)`, which rounds otherwise.
        expect(jittered).toBeLessThanOrEqual(plain + policy.jitter * plain);
      }),
    );
  });
});

describe('createBackoff', () => {
  test('grows with each failure and starts anew after a success', () => {
    const backoff = createBackoff(backoffPolicies.queueItem, createVirtualClock(0), constant(0));
    expect([backoff.next(), backoff.next(), backoff.next()]).toEqual([5, 10, 20]);
    backoff.reset();
    expect(backoff.next()).toBe(5);
  });

  test('a reflector forgets failures two minutes after the last', async () => {
    const clock = createVirtualClock(0);
    const backoff = createBackoff(backoffPolicies.reflector, clock, constant(0));
    expect(backoff.next()).toBe(800);
    await clock.advance(120_000);
    expect(backoff.next()).toBe(1600);
    await clock.advance(120_001);
    expect(backoff.next()).toBe(800);
  });

  test('a clock that was set back makes no failures last until it has caught up', () => {
    let now = 7_200_000;
    const backoff = createBackoff(backoffPolicies.reflector, { ...createVirtualClock(0), now: () => now }, constant(0));
    expect([backoff.next(), backoff.next()]).toEqual([800, 1600]);
    now -= 3_600_000;
    expect(backoff.next()).toBe(800);
    expect(backoff.next()).toBe(1600);
  });

  test('without a reset time failures are never forgotten', async () => {
    const clock = createVirtualClock(0);
    const backoff = createBackoff(backoffPolicies.queueItem, clock, constant(0));
    backoff.next();
    await clock.advance(1e12);
    expect(backoff.next()).toBe(10);
  });
});
