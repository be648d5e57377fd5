import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exactPercentile } from './exact-percentile.ts';

describe('percentile of the shipped strategy', () => {
  test.each([
    ['optipod: P50 of three', [100, 200, 300], 50, 200],
    ['optipod: P90 of three', [100, 200, 300], 90, 280],
    ['optipod: P50 of two', [100, 200], 50, 150],
    ['optipod: any percentile of one', [100], 99, 100],
    ['optipod: P0 is the smallest', [100, 200, 300], 0, 100],
    ['optipod: P100 is the largest', [100, 200, 300], 100, 300],
    ['optipod: fractions are cut, not rounded', [1, 2], 99, 1],
    ['optipod: of nothing', [], 90, 0],
  ])('%s', (_name, sorted, percentile, expected) => {
    expect(exactPercentile(sorted, percentile)).toBe(expected);
  });

  const sortedSamples = fc
    .array(fc.nat(10_000_000_000), { minLength: 1, maxLength: 200 })
    .map((list) => list.sort((a, b) => a - b));

  // Feature: k8s-workload-rightsizing, Property 13: for any collected usage metrics P50, P90 and P99 are computed, in order.
  test('Property 13: for any samples, P50 <= P90 <= P99, all within the samples', () => {
    fc.assert(
      fc.property(sortedSamples, (sorted) => {
        const [p50, p90, p99] = [50, 90, 99].map((percentile) => exactPercentile(sorted, percentile));
        expect(sorted[0]).toBeLessThanOrEqual(p50 ?? Number.NaN);
        expect(p50).toBeLessThanOrEqual(p90 ?? Number.NaN);
        expect(p90).toBeLessThanOrEqual(p99 ?? Number.NaN);
        expect(p99).toBeLessThanOrEqual(sorted.at(-1) ?? Number.NaN);
      }),
      { numRuns: 300 },
    );
  });

  test('for any value repeated any number of times, every percentile is that value', () => {
    fc.assert(
      fc.property(fc.nat(1e9), fc.integer({ min: 1, max: 50 }), fc.integer({ min: 0, max: 100 }), (value, count, p) => {
        expect(
          exactPercentile(
            Array.from({ length: count }, () => value),
            p,
          ),
        ).toBe(value);
      }),
    );
  });
});
