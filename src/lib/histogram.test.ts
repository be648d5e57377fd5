import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DAY, fading, fill, HOUR, lasting, layout, type Sample, samples } from './testing/histogram-samples.ts';

/** The quantile from the samples themselves, with no histogram: the smallest value that at least `fraction` of the weight is at or below. */
function oracle(list: readonly Sample[], fraction: number, halfLifeMillis: number): number {
  const newest = Math.max(...list.map(({ at }) => at));
  const weighed = list
    .map(({ value, weight, at }) => ({ value, weight: weight * 2 ** ((at - newest) / halfLifeMillis) }))
    .sort((a, b) => a.value - b.value);
  const total = weighed.reduce((sum, { weight }) => sum + weight, 0);
  let below = 0;
  for (const { value, weight } of weighed) {
    below += weight;
    if (below >= fraction * total) return value;
  }
  return weighed.at(-1)?.value ?? Number.NaN;
}

describe('percentile', () => {
  test('is the upper end of the bucket of the sample', () => {
    const histogram = fill(lasting(), [{ value: 100, weight: 1, at: 0 }]);
    expect(histogram.percentile(0.9)).toBe(layout.startOf(layout.indexOf(100) + 1));
  });

  test('that ends exactly with the weight of a bucket is in that one, not in the next', () => {
    const histogram = fill(lasting(), [
      { value: 100, weight: 1, at: 0 },
      { value: 5000, weight: 1, at: 0 },
    ]);
    expect(histogram.percentile(0.5)).toBe(layout.startOf(layout.indexOf(100) + 1));
    expect(histogram.percentile(0.51)).toBe(layout.startOf(layout.indexOf(5000) + 1));
  });

  test('in the last bucket but one is its upper end', () => {
    const histogram = lasting();
    histogram.add(layout.startOf(layout.count - 2), 1, 0);
    expect(histogram.percentile(1)).toBe(layout.startOf(layout.count - 1));
  });

  test('of nothing is 0', () => {
    expect(fading().percentile(0.9)).toBe(0);
    expect(fading().isEmpty()).toBe(true);
  });

  test('in the last bucket is its lower end, for it has no upper one', () => {
    const histogram = fill(lasting(), [{ value: 1e9, weight: 1, at: 0 }]);
    expect(histogram.percentile(0.5)).toBe(layout.startOf(layout.count - 1));
  });

  test('for any samples, lies in the bucket of the true weighted quantile, or beside it where rounding decides', () => {
    fc.assert(
      fc.property(samples, fc.constantFrom(0.05, 0.5, 0.9, 0.95, 0.99, 1), (list, fraction) => {
        const histogram = fill(fading(), list);
        const lowest = layout.indexOf(oracle(list, fraction - 1e-5, DAY));
        const highest = layout.indexOf(oracle(list, Math.min(1, fraction + 1e-5), DAY));
        const answer = histogram.percentile(fraction);
        expect(answer).toBeGreaterThanOrEqual(layout.startOf(lowest + 1) * (1 - 1e-9));
        expect(answer).toBeLessThanOrEqual(layout.startOf(highest + 1) * (1 + 1e-9));
      }),
      { numRuns: 300 },
    );
  });

  // Feature: k8s-workload-rightsizing, Property 13: for any usage P50 <= P90 <= P99.
  test('Property 13: for any samples, P50 <= P90 <= P99', () => {
    fc.assert(
      fc.property(samples, (list) => {
        const histogram = fill(fading(), list);
        const [p50, p90, p99] = [histogram.percentile(0.5), histogram.percentile(0.9), histogram.percentile(0.99)];
        expect(p50).toBeLessThanOrEqual(p90);
        expect(p90).toBeLessThanOrEqual(p99);
      }),
      { numRuns: 200 },
    );
  });
});

describe('decay', () => {
  test('a sample one half-life older weighs half', () => {
    const histogram = fill(fading(), [
      { value: 100, weight: 1, at: 0 },
      { value: 1000, weight: 1, at: DAY },
    ]);
    expect(histogram.share(layout.indexOf(100))).toBeCloseTo(1 / 3, 6);
    expect(histogram.share(layout.indexOf(1000))).toBeCloseTo(2 / 3, 6);
  });

  test('without a half-life every sample weighs the same for ever', () => {
    const histogram = fill(lasting(), [
      { value: 100, weight: 1, at: 0 },
      { value: 1000, weight: 1, at: 1000 * DAY },
    ]);
    expect(histogram.share(layout.indexOf(100))).toBeCloseTo(0.5, 6);
  });

  test('ten years of samples neither overflow nor vanish', () => {
    const histogram = fading(HOUR);
    for (let day = 0; day < 3650; day++) histogram.add(100 + (day % 7), 1, day * DAY);
    for (const [, weight] of histogram.state().buckets) expect(Number.isFinite(weight)).toBe(true);
    expect(histogram.percentile(0.5)).toBe(layout.startOf(layout.indexOf(100 + (3649 % 7)) + 1));
  });

  test('for any samples, the order in which they are told does not matter', () => {
    fc.assert(
      fc.property(samples, (list) => {
        const forward = fill(fading(), list);
        const backward = fill(fading(), [...list].reverse());
        for (let index = 0; index < layout.count; index++) {
          expect(forward.share(index)).toBeCloseTo(backward.share(index), 4);
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe('samples that are none', () => {
  test.each([
    ['a value that is no number', Number.NaN, 1, 0],
    ['an endless value', Number.POSITIVE_INFINITY, 1, 0],
    ['no weight', 5, 0, 0],
    ['a negative weight', 5, -1, 0],
    ['an endless weight', 5, Number.POSITIVE_INFINITY, 0],
    ['no time', 5, 1, Number.NaN],
  ])('%s changes nothing', (_name, value, weight, at) => {
    const histogram = fading();
    histogram.add(value, weight, at);
    expect(histogram.isEmpty()).toBe(true);
  });
});

describe('range', () => {
  test('for any samples, holds every bucket with weight', () => {
    fc.assert(
      fc.property(samples, (list) => {
        const histogram = fill(fading(), list);
        const { from, to } = histogram.range();
        for (const [index] of histogram.state().buckets) {
          expect(index).toBeGreaterThanOrEqual(from);
          expect(index).toBeLessThan(to);
        }
        expect(from).toBeGreaterThanOrEqual(0);
        expect(to).toBeLessThanOrEqual(layout.count);
      }),
      { numRuns: 150 },
    );
  });

  test('of nothing is empty', () => {
    expect(fading().range()).toEqual({ from: 0, to: 0 });
  });
});
