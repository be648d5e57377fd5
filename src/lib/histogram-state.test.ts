import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createBucketLayout } from './bucket-layout.ts';
import { DecayingHistogram } from './histogram.ts';
import { DAY, fading, fill, HOUR, lasting, layout, samples } from './testing/histogram-samples.ts';

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
