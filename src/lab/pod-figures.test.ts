import { expect, test } from 'vitest';
import { labLoads } from './loads.ts';
import { podFigures } from './pod-figures.ts';
import type { PodCounters, Reply } from './substrate.ts';

const pod = labLoads[0]?.pods[0];
const counters = (usedMillis: number, more: Partial<PodCounters> = {}): PodCounters => ({
  usedMillis,
  periods: 0,
  throttledPeriods: 0,
  throttledMillis: 0,
  waitedMillis: 0,
  ...more,
});
const figures = (latencies: readonly (number | undefined)[], more: object = {}) => {
  if (pod === undefined) throw new Error('there is a load');
  const replies = latencies.map((latencyMillis, index): Reply => ({ sentAt: 1000 + index, latencyMillis }));
  const defaults = { counters: counters(5000), before: counters(1000), replies, from: 1000, until: 9000, writes: 3 };
  return podFigures(pod, { ...defaults, ...more });
};

test('percentiles are of requests as they were meant to be sent; lost ones are the slowest', () => {
  const latencies = [
    ...Array.from({ length: 94 }, (_, index) => index + 1),
    201,
    1999,
    undefined,
    undefined,
    undefined,
    undefined,
  ];
  const found = figures(latencies);
  expect(found).toMatchObject({ sent: 100, p50Millis: 50, p95Millis: 201, p99Millis: Number.POSITIVE_INFINITY });
  expect(found.lostShare).toBeCloseTo(0.04, 9);
  expect(found.badShare).toBeCloseTo(0.06, 9);
});

test('what was sent before the time that counts, or after it, does not count', () => {
  expect(figures([1, 2, 3], { from: 1001, until: 1002 })).toMatchObject({ sent: 1, p50Millis: 2 });
});

test('CPU is of the time that counts', () => {
  expect(figures([]).usage).toBe(500);
  const throttled = figures([], {
    counters: counters(0, { periods: 30, throttledPeriods: 15, throttledMillis: 700 }),
    before: counters(0, { periods: 10, throttledPeriods: 10, throttledMillis: 200 }),
  });
  expect(throttled).toMatchObject({ throttledShare: 0.25, throttledMillis: 500 });
});

test('a pod that serves nobody has no latency', () => {
  expect(figures([])).toMatchObject({ sent: 0, p50Millis: 0, p99Millis: 0, lostShare: 0, badShare: 0 });
});
