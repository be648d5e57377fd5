import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SpanHistogram } from '../../lib/span-histogram.ts';
import { cpuLayout } from '../../model/usage-cpu.ts';
import { distributionOf, piecesOf, shortfallOf, type UsageDistribution } from './usage-distribution.ts';

const usageOf = (...values: number[]) => {
  const histogram = new SpanHistogram({ layout: cpuLayout, spanMillis: 1000, spans: 2 });
  for (const value of values) histogram.add(value, 0);
  return histogram;
};
const known = (usage: UsageDistribution | undefined): UsageDistribution => {
  if (usage === undefined) throw new Error('expected a distribution');
  return usage;
};
const values = fc.array(fc.double({ min: 0, max: 100_000, noNaN: true }), { minLength: 1, maxLength: 50 });

describe('usage of the last day', () => {
  test('of nothing is unknown', () => {
    expect(distributionOf(usageOf(), 2)).toBeUndefined();
  });

  test('for any values, shares add up to 1 and the pieces are in order', () => {
    fc.assert(
      fc.property(values, (list) => {
        const { pieces } = known(distributionOf(usageOf(...list), 2));
        expect(pieces.reduce((sum, piece) => sum + piece.share, 0)).toBeCloseTo(1, 6);
        for (const [index, { low, high }] of pieces.entries()) {
          expect(low).toBeLessThan(high);
          expect(low).toBeGreaterThanOrEqual(pieces[index - 1]?.high ?? 0);
        }
      }),
      { numRuns: 150 },
    );
  });

  test('has the share of time and the mean of what was used', () => {
    const { pieces, mean } = known(distributionOf(usageOf(100, 100, 100, 1000), 2));
    expect(pieces.map(({ share }) => share)).toEqual([0.75, 0.25]);
    expect(Math.abs(mean - 325)).toBeLessThan(325 * 0.025);
  });
});

test('the latest spans alone count, as many as are asked for', () => {
  const twoSpans = usageOf(100, 100, 100);
  twoSpans.add(1000, 1000);
  expect(known(distributionOf(twoSpans, 2)).pieces.map(({ share }) => share)).toEqual([0.75, 0.25]);
  const { pieces, mean } = known(distributionOf(twoSpans, 1));
  expect(pieces.map(({ share }) => share)).toEqual([1]);
  expect(Math.abs(mean - 1000)).toBeLessThan(1000 * 0.025);
});

test('a piece is a bucket that holds anything, at its place among those that do not', () => {
  const [second, third, fourth, fifth] = [1, 2, 3, 4].map((bucket) => cpuLayout.startOf(bucket));
  expect(piecesOf(cpuLayout, 1, [0.25, 0, 0.75, 0])).toEqual([
    { low: second, high: third, share: 0.25 },
    { low: fourth, high: fifth, share: 0.75 },
  ]);
  expect(piecesOf(cpuLayout, 7, [])).toEqual([]);
});

describe('shortfall', () => {
  const usage: UsageDistribution = {
    pieces: [
      { low: 0, high: 100, share: 0.5 },
      { low: 200, high: 300, share: 0.5 },
    ],
    mean: 150,
  };

  test.each([
    ['above all usage', 300, 0, 0],
    ['between the pieces', 150, 0.5, 50],
    ['in the middle of the upper piece', 250, 0.25, 6.25],
    ['in the middle of the lower piece', 50, 0.75, 106.25],
    ['nothing', 0, 1, 150],
  ])('of a request %s', (_name, request, exceeded, missing) => {
    expect(shortfallOf(usage, request)).toEqual({ exceeded, missing });
  });

  test('for any usage, a larger request never falls shorter', () => {
    fc.assert(
      fc.property(values, fc.nat(100_000), fc.nat(100_000), (list, request, more) => {
        const usage = known(distributionOf(usageOf(...list), 2));
        const small = shortfallOf(usage, request);
        const large = shortfallOf(usage, request + more);
        expect(large.exceeded).toBeLessThanOrEqual(small.exceeded + 1e-9);
        expect(large.missing).toBeLessThanOrEqual(small.missing + 1e-6);
      }),
      { numRuns: 150 },
    );
  });
});
