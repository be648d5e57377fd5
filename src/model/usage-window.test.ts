import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { percentilesOf } from './usage-window.ts';

describe('percentiles of a window', () => {
  test('of no samples are unknown, not zero', () => {
    expect(percentilesOf([])).toBeUndefined();
  });

  test.each([
    ['optipod: three', [300, 100, 200], { p50: 200, p90: 280, p95: 290, p99: 298, max: 300, samples: 3 }],
    ['optipod: one', [100], { p50: 100, p90: 100, p95: 100, p99: 100, max: 100, samples: 1 }],
    ['optipod: two', [200, 100], { p50: 150, p90: 190, p95: 195, p99: 199, max: 200, samples: 2 }],
  ])('%s', (_name, samples, expected) => {
    expect(percentilesOf([...samples])).toEqual(expected);
  });

  const samples = fc.array(fc.nat(10_000_000_000), { minLength: 1, maxLength: 300 });

  // Feature: k8s-workload-rightsizing, Property 13: for any collected usage metrics, P50, P90 and P99 are computed for CPU and memory.
  test('Property 13: for any samples P50 <= P90 <= P95 <= P99 <= the highest, all within what was measured', () => {
    fc.assert(
      fc.property(samples, (list) => {
        const found = percentilesOf([...list]);
        if (found === undefined) throw new Error('samples give percentiles');
        const { p50, p90, p95, p99, max } = found;
        const order = [Math.min(...list), p50, p90, p95, p99, max];
        expect(order.toSorted((a, b) => a - b)).toEqual(order);
        expect([max, found.samples]).toEqual([Math.max(...list), list.length]);
      }),
      { numRuns: 300 },
    );
  });

  test('for any order of the samples the percentiles are the same', () => {
    fc.assert(
      fc.property(samples, (list) => {
        expect(percentilesOf(list.toReversed())).toEqual(percentilesOf([...list]));
      }),
      { numRuns: 150 },
    );
  });
});
