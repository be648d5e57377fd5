import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createBucketLayout } from './bucket-layout.ts';
import { SpanHistogram, type SpanHistogramState } from './span-histogram.ts';

const layout = createBucketLayout({ firstWidth: 1, ratio: 1.05, maxValue: 1_000_000 });
const SPAN = 100;
const options = { layout, spanMillis: SPAN, spans: 3 };
const shareOf = (histogram: SpanHistogram, value: number) => histogram.share(layout.indexOf(value));

describe('span histogram', () => {
  test('begins knowing nothing', () => {
    const histogram = new SpanHistogram(options);
    expect([histogram.isEmpty(), histogram.share(0), histogram.range()]).toEqual([true, 0, { from: 0, to: 0 }]);
  });

  test('counts every value of the spans it keeps alike', () => {
    const histogram = new SpanHistogram(options);
    for (const [value, at] of [
      [10, 0],
      [10, 150],
      [10, 299],
      [5000, 299],
    ] as const)
      histogram.add(value, at);
    expect([shareOf(histogram, 10), shareOf(histogram, 5000), shareOf(histogram, 300)]).toEqual([0.75, 0.25, 0]);
  });

  test('a bucket beyond those in use has no share, also where the next span has values', () => {
    const histogram = new SpanHistogram(options);
    for (const span of [0, 1, 2]) histogram.add(100, span * options.spanMillis);
    const used = options.layout.indexOf(100);
    const shares = Array.from({ length: options.layout.count }, (_, index) => histogram.share(index));
    expect(shares).toEqual(shares.map((_, index) => (index === used ? 1 : 0)));
    expect(histogram.share(-1)).toBe(0);
  });

  test('tells the shares of all buckets at once, of the latest spans alone, whatever came last', () => {
    const histogram = new SpanHistogram(options);
    expect(histogram.shares(3)).toEqual(new Float64Array(0));
    for (const [value, at] of [
      [300, 150],
      [10, 0],
      [5000, 299],
      [300, 250],
      [300, 160],
    ] as const)
      histogram.add(value, at);
    const ofLatest = (spans: number, asked = histogram) =>
      [10, 300, 5000].map((value) => asked.shares(spans)[layout.indexOf(value) - asked.range().from]);
    expect(ofLatest(1)).toEqual([0, 0.5, 0.5]);
    expect(ofLatest(2)).toEqual([0, 0.75, 0.25]);
    expect(ofLatest(3)).toEqual([0.2, 0.6, 0.2]);
    expect(ofLatest(9)).toEqual(ofLatest(3));
    expect(ofLatest(2, new SpanHistogram(options, histogram.state()))).toEqual(ofLatest(2));
    const { from, to } = histogram.range();
    expect([...histogram.shares(3)]).toEqual(
      Array.from({ length: to - from }, (_, index) => histogram.share(from + index)),
    );
  });

  test('forgets the oldest span at the first value of a new one, and the room it took', () => {
    const histogram = new SpanHistogram(options);
    histogram.add(90_000, 0);
    for (const at of [100, 200]) histogram.add(10, at);
    expect(shareOf(histogram, 90_000)).toBeCloseTo(1 / 3, 9);
    histogram.add(10, 300);
    expect(shareOf(histogram, 90_000)).toBe(0);
    expect(shareOf(histogram, 10)).toBe(1);
    expect(histogram.range().to).toBeLessThan(layout.indexOf(90_000));
  });

  test('a gap takes nothing but the oldest span', () => {
    const histogram = new SpanHistogram(options);
    for (const at of [0, 100, 200]) histogram.add(10 + at, at);
    histogram.add(10, 1_000_000);
    expect([shareOf(histogram, 110), shareOf(histogram, 210)]).toEqual([1 / 3, 1 / 3]);
  });

  test('takes values in any order, but none older than all it keeps', () => {
    const histogram = new SpanHistogram(options);
    for (const at of [500, 300, 400]) histogram.add(10, at);
    histogram.add(7000, 299);
    expect(shareOf(histogram, 7000)).toBe(0);
    histogram.add(7000, 399);
    expect(shareOf(histogram, 7000)).toBe(0.25);
  });

  test.each([
    [Number.NaN, 0],
    [Number.POSITIVE_INFINITY, 0],
    [5, Number.NaN],
  ])('the value %d at %d is ignored', (value, at) => {
    const histogram = new SpanHistogram(options);
    histogram.add(value, at);
    expect(histogram.isEmpty()).toBe(true);
  });

  const samples = fc.array(fc.tuple(fc.nat(999_999), fc.nat(2000)), { maxLength: 60 });

  test('for any values, shares are those of the latest spans, and add up to 1', () => {
    fc.assert(
      fc.property(samples, (list) => {
        const histogram = new SpanHistogram(options);
        const inOrder = list.toSorted(([, a], [, b]) => a - b);
        for (const [value, at] of inOrder) histogram.add(value, at);
        const spans = [...new Set(inOrder.map(([, at]) => Math.floor(at / SPAN)))].slice(-options.spans);
        const kept = inOrder.filter(([, at]) => spans.includes(Math.floor(at / SPAN)));
        const { from, to } = histogram.range();
        let sum = 0;
        for (let index = from; index < to; index++) {
          const count = kept.filter(([value]) => layout.indexOf(value) === index).length;
          expect(histogram.share(index)).toBeCloseTo(kept.length === 0 ? 0 : count / kept.length, 9);
          sum += histogram.share(index);
        }
        expect(sum).toBeCloseTo(kept.length === 0 ? 0 : 1, 9);
      }),
      { numRuns: 150 },
    );
  });

  test('for any values, saved and restored it goes on as if never stopped', () => {
    fc.assert(
      fc.property(samples, samples, (before, after) => {
        const kept = new SpanHistogram(options);
        for (const [value, at] of before) kept.add(value, at);
        const restored = new SpanHistogram(options, kept.state());
        for (const [value, at] of after) {
          kept.add(value, at);
          restored.add(value, at);
        }
        expect(restored.state()).toEqual(kept.state());
      }),
      { numRuns: 150 },
    );
  });

  test.each<[string, SpanHistogramState]>([
    ['rows that do not match', { spans: [1, 2], first: 0, counts: [1, 2, 3] }],
    ['more spans than are kept', { spans: [1, 2, 3, 4], first: 0, counts: [1, 1, 1, 1] }],
    ['buckets beyond the layout', { spans: [1], first: layout.count, counts: [1] }],
    ['counts without a span', { spans: [], first: 0, counts: [1] }],
  ])('%s are no history', (_name, saved) => {
    const histogram = new SpanHistogram(options, saved);
    histogram.add(10, 0);
    expect(shareOf(histogram, 10)).toBe(1);
  });
});
