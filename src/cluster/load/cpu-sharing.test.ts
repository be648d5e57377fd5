import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CpuGroup, fillByWeight, shareCpu, sharesOf } from './cpu-sharing.ts';
import { stallShare, throttledShare } from './throttling.ts';

const leaf = (weight: number, demand: number, limit = Number.POSITIVE_INFINITY): CpuGroup => ({
  weight,
  demand,
  limit,
  children: [],
  granted: 0,
});
const group = (weight: number, children: readonly CpuGroup[], limit = Number.POSITIVE_INFINITY): CpuGroup => ({
  ...leaf(weight, 0, limit),
  children,
});

describe('sharing a capacity by weight', () => {
  test.each([
    ['everybody is satisfied when there is enough', 1000, [1, 1], [300, 200], [300, 200]],
    ['equal weights get equal parts', 1000, [1, 1], [900, 900], [500, 500]],
    ['weights decide', 900, [2, 1], [900, 900], [600, 300]],
    ['what a modest one leaves goes to the others', 900, [1, 1, 1], [100, 900, 900], [100, 400, 400]],
    ['and to them by weight', 1000, [1, 3, 1], [100, 900, 900], [100, 675, 225]],
    ['nothing is shared when nothing is there', 0, [1, 1], [100, 100], [0, 0]],
  ])('%s', (_, capacity, weights, wants, expected) => {
    const grants = fillByWeight(capacity, weights, wants);
    grants.forEach((grant, index) => {
      expect(grant).toBeCloseTo(expected[index] ?? Number.NaN, 9);
    });
  });

  const askers = fc.array(fc.tuple(fc.integer({ min: 2, max: 100_000 }), fc.integer({ min: 0, max: 8000 })), {
    minLength: 1,
    maxLength: 30,
  });

  test('for any askers uses all that is wanted, gives nobody more than wanted, and envies nobody', () => {
    fc.assert(
      fc.property(askers, fc.integer({ min: 0, max: 64_000 }), (pairs, capacity) => {
        const [weights, wants] = [pairs.map(([weight]) => weight), pairs.map(([, want]) => want)];
        const grants = fillByWeight(capacity, weights, wants);
        const total = grants.reduce((sum, grant) => sum + grant, 0);
        const wanted = wants.reduce((sum, want) => sum + want, 0);
        expect(total).toBeCloseTo(Math.min(capacity, wanted), 6);
        const levels = grants.map((grant, index) => grant / (weights[index] ?? 1));
        const highest = Math.max(...levels);
        grants.forEach((grant, index) => {
          const want = wants[index] ?? 0;
          expect(grant).toBeLessThanOrEqual(want);
          // Who got less than wanted is at the common level, above which nobody is.
          if (grant < want - 1e-6) expect(levels[index]).toBeCloseTo(highest, 6);
        });
      }),
    );
  });
});

describe('control groups', () => {
  test('share among siblings first, then inside', () => {
    const [a, b, c] = [leaf(1024, 2000), leaf(1024, 2000), leaf(1024, 2000)];
    shareCpu([group(1024, [a]), group(1024, [b, c])], 2000);
    expect([a.granted, b.granted, c.granted]).toEqual([1000, 500, 500]);
  });

  test('never give more than a limit, their own or that of a group above', () => {
    const [a, b, c] = [leaf(1024, 2000, 300), leaf(1024, 2000), leaf(1024, 2000)];
    shareCpu([a, group(2048, [b, c], 800)], 4000);
    expect([a.granted, b.granted, c.granted]).toEqual([300, 400, 400]);
  });

  test.each([
    [0, 2],
    [1, 2],
    [100, 102],
    [200, 204],
    [1000, 1024],
  ])('of a request of %dm have %d shares', (millicores, shares) => {
    expect(sharesOf(millicores)).toBe(shares);
  });
});

describe('a quota', () => {
  test.each([
    [1000, 400, 1],
    [400, 400, 0.5],
    [360, 400, 0.278],
    [320, 400, 0],
    [100, 400, 0],
    [0, 400, 0],
  ])('with %dm wanted of %dm throttles %d of the periods', (demand, limit, share) => {
    expect(throttledShare(demand, limit)).toBeCloseTo(share, 3);
  });

  test.each([
    [1000, 400, 0.6],
    [400, 400, 0],
    [0, 0, 0],
  ])('or a neighbour that leaves %dm with %dm stalls %d of the time', (demand, granted, share) => {
    expect(stallShare(demand, granted)).toBeCloseTo(share, 9);
  });
});
