import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createBucketLayout } from './bucket-layout.ts';
import { DecayingHistogram } from './histogram.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const layout = createBucketLayout({ firstWidth: 10, ratio: 1.05, maxValue: 1e6 });
const fading = (halfLifeMillis = DAY): DecayingHistogram => new DecayingHistogram({ layout, halfLifeMillis });
const lasting = (): DecayingHistogram => fading(Number.POSITIVE_INFINITY);

interface Sample {
  readonly value: number;
  readonly weight: number;
  readonly at: number;
}
const samples = fc.array(
  fc.record({
    value: fc.double({ min: 0, max: 900_000, noNaN: true }),
    weight: fc.double({ min: 0.1, max: 10, noNaN: true }),
    at: fc.integer({ min: 0, max: 30 * DAY }),
  }),
  { minLength: 1, maxLength: 60 },
);
const fill = (histogram: DecayingHistogram, list: readonly Sample[]): DecayingHistogram => {
  for (const { value, weight, at } of list) histogram.add(value, weight, at);
  return histogram;
};

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

describe('merge', () => {
  test('for any two sets of samples, is as if one histogram had seen both', () => {
    fc.assert(
      fc.property(samples, samples, (one, other) => {
        const merged = fill(fading(), one);
        merged.merge(fill(fading(), other));
        const both = fill(fading(), [...one, ...other]);
        for (let index = 0; index < layout.count; index++) {
          expect(merged.share(index)).toBeCloseTo(both.share(index), 4);
        }
      }),
      { numRuns: 200 },
    );
  });

  test('with nothing changes nothing, and into nothing takes all', () => {
    const some = fill(fading(), [{ value: 70, weight: 2, at: 3 * DAY }]);
    const before = some.state();
    some.merge(fading());
    expect(some.state()).toEqual(before);
    const none = fading();
    none.merge(some);
    expect(none.state()).toEqual(before);
  });

  test('of one that is ten years younger takes its shares, and does not overflow', () => {
    const old = fill(fading(), [{ value: 100, weight: 1, at: 0 }]);
    const young = fill(fading(), [
      { value: 200, weight: 1, at: 3650 * DAY },
      { value: 900, weight: 1, at: 3650 * DAY },
    ]);
    old.merge(young);
    for (const value of [200, 900]) expect(old.share(layout.indexOf(value))).toBeCloseTo(0.5);
    expect(old.share(layout.indexOf(100))).toBe(0);
    expect(old.state().buckets.every(([, weight]) => Number.isFinite(weight))).toBe(true);
  });

  test('asks for the same buckets and half-life, wherever they were made', () => {
    const options = { firstWidth: 10, ratio: 1.05, maxValue: 1e6 };
    const histogramOf = (changed: Partial<typeof options>, halfLifeMillis = DAY): DecayingHistogram =>
      fill(new DecayingHistogram({ layout: createBucketLayout({ ...options, ...changed }), halfLifeMillis }), [
        { value: 100, weight: 1, at: 0 },
      ]);
    const histogram = histogramOf({});
    histogram.merge(histogramOf({}));
    expect(histogram.share(layout.indexOf(100))).toBe(1);
    for (const other of [
      histogramOf({ firstWidth: 11 }),
      histogramOf({ ratio: 1.06 }),
      histogramOf({ maxValue: 2e6 }),
      histogramOf({}, 2 * DAY),
    ])
      expect(() => histogram.merge(other)).toThrow(RangeError);
  });

  test('of histograms that never fade adds their weights', () => {
    const merged = fill(lasting(), [{ value: 70, weight: 2, at: 0 }]);
    merged.merge(fill(lasting(), [{ value: 700, weight: 6, at: 9 * DAY }]));
    expect(merged.share(layout.indexOf(700))).toBeCloseTo(0.75, 6);
  });

  test.each([
    ['another half-life', fading(HOUR)],
    [
      'another layout',
      new DecayingHistogram({
        layout: createBucketLayout({ firstWidth: 1, ratio: 1.05, maxValue: 1e6 }),
        halfLifeMillis: DAY,
      }),
    ],
  ])('refuses %s', (_name, other) => {
    expect(() => fading().merge(other)).toThrow(RangeError);
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

describe('state', () => {
  test('for any samples, a histogram made from it answers the same, and goes on the same', () => {
    fc.assert(
      fc.property(samples, samples, (before, after) => {
        const kept = fill(fading(), before);
        const restored = new DecayingHistogram({ layout, halfLifeMillis: DAY }, kept.state());
        fill(kept, after);
        fill(restored, after);
        for (const fraction of [0.5, 0.9, 0.99]) expect(restored.percentile(fraction)).toBe(kept.percentile(fraction));
      }),
      { numRuns: 200 },
    );
  });

  test('buckets beyond a smaller layout are not lost', () => {
    const restored = new DecayingHistogram(
      { layout, halfLifeMillis: DAY },
      { referenceMillis: 0, buckets: [[60_000, 3]] },
    );
    expect(restored.share(layout.count - 1)).toBe(1);
  });

  test('a half-life that is not above 0 is refused', () => {
    expect(() => fading(0)).toThrow(RangeError);
  });
});

describe('state at an instant', () => {
  const layout = createBucketLayout({ firstWidth: 1, ratio: 1.05, maxValue: 1e6 });

  test('for any samples, each has the weight it counts for then, and shares stay', () => {
    const samples = fc.array(fc.tuple(fc.nat(5000), fc.nat(100)), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(samples, (list) => {
        const fading = new DecayingHistogram({ layout, halfLifeMillis: 10 });
        for (const [value, at] of list) fading.add(value, 1, at);
        const state = fading.stateAt(100);
        const steady = new DecayingHistogram({ layout, halfLifeMillis: Number.POSITIVE_INFINITY }, state);
        const expected = list.reduce((sum, [, at]) => sum + 2 ** ((at - 100) / 10), 0);
        expect(state.referenceMillis).toBe(100);
        expect(state.buckets.reduce((sum, [, weight]) => sum + weight, 0)).toBeCloseTo(expected, 3);
        for (const [index] of state.buckets) expect(steady.share(index)).toBeCloseTo(fading.share(index), 4);
      }),
      { numRuns: 150 },
    );
  });

  test('of nothing is nothing; what faded to nothing is left out', () => {
    const histogram = new DecayingHistogram({ layout, halfLifeMillis: 10 });
    expect(histogram.stateAt(5).buckets).toEqual([]);
    histogram.add(5, 1, 0);
    expect(histogram.stateAt(100_000).buckets).toEqual([]);
  });
});
