import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DecayingHistogram } from '../../lib/histogram.ts';
import { cpuLayout } from '../../model/usage-cpu.ts';
import { blendUsage, shortfallOf, type UsageDistribution } from './usage-distribution.ts';

const histogramOf = (...values: number[]) => {
  const histogram = new DecayingHistogram({ layout: cpuLayout, halfLifeMillis: Number.POSITIVE_INFINITY });
  for (const value of values) histogram.add(value, 1, 0);
  return histogram;
};
const known = (usage: UsageDistribution | undefined): UsageDistribution => {
  if (usage === undefined) throw new Error('expected a distribution');
  return usage;
};
const values = fc.array(fc.double({ min: 0, max: 100_000, noNaN: true }), { minLength: 1, maxLength: 50 });

describe('blended usage', () => {
  test('of nothing is unknown', () => {
    expect(blendUsage(histogramOf(), histogramOf(), 0.5)).toBeUndefined();
  });

  test('for any histograms, shares add up to 1 and the pieces are in order', () => {
    fc.assert(
      fc.property(values, values, fc.double({ min: 0, max: 1, noNaN: true }), (usual, recent, share) => {
        const { pieces } = known(blendUsage(histogramOf(...usual), histogramOf(...recent), share));
        expect(pieces.reduce((sum, piece) => sum + piece.share, 0)).toBeCloseTo(1, 6);
        for (const [index, { low, high }] of pieces.entries()) {
          expect(low).toBeLessThan(high);
          expect(low).toBeGreaterThanOrEqual(pieces[index - 1]?.high ?? 0);
        }
      }),
      { numRuns: 150 },
    );
  });

  test('gives the recent part its share', () => {
    const { pieces } = known(blendUsage(histogramOf(100), histogramOf(1000), 0.2));
    expect(pieces.map(({ share }) => Math.round(share * 100))).toEqual([80, 20]);
  });

  test.each([
    ['usual', histogramOf(100), histogramOf()],
    ['recent', histogramOf(), histogramOf(100)],
  ])('where only the %s part is known, it counts alone', (_name, usual, recent) => {
    expect(known(blendUsage(usual, recent, 0.2)).pieces.map(({ share }) => share)).toEqual([1]);
  });

  test('has the mean of what is usual, whatever goes on now', () => {
    const mean = known(blendUsage(histogramOf(100), histogramOf(4000), 0.5)).mean;
    expect(Math.abs(mean - 100)).toBeLessThan(5);
  });
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
        const blended = known(blendUsage(histogramOf(...list), histogramOf(), 0));
        const small = shortfallOf(blended, request);
        const large = shortfallOf(blended, request + more);
        expect(large.exceeded).toBeLessThanOrEqual(small.exceeded + 1e-9);
        expect(large.missing).toBeLessThanOrEqual(small.missing + 1e-6);
      }),
      { numRuns: 150 },
    );
  });
});
