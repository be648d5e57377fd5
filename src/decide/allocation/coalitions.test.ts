import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { coalitionCredits, shapleyValues, solveWithCoalitions } from './coalitions.ts';
import type { Bid } from './problem.ts';
import { solve } from './solve.ts';
import { weightedInstance } from './testing/instances.ts';

const bid = (uid: string, weight: number, min: number, max: number): Bid => ({ uid, weight, min, max });
const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

describe('pods that bargain as one', () => {
  const bids = [bid('a', 8, 100, 1000), bid('b', 8, 100, 1000), bid('c', 1, 100, 2000)];

  test('a coalition gets its part by need, and divides it by weight', () => {
    const { shares } = solveWithCoalitions({ capacity: 2000, bids }, [{ id: 'team', members: ['a', 'b'] }]);
    expect(shares).toEqual([500, 500, 1000]);
    expect(solve({ capacity: 2000, bids }).shares).not.toEqual(shares);
  });

  test('what the others may not have goes to the coalition', () => {
    const groups = [{ id: 'quota', cap: 300, members: ['c'] }];
    const { shares, mode } = solveWithCoalitions({ capacity: 2000, bids, groups }, [
      { id: 'team', members: ['a', 'b'] },
    ]);
    expect([shares, mode]).toEqual([[850, 850, 300], 'congested']);
  });

  test('a coalition of one is none, and without congestion it changes nothing', () => {
    const one = [{ id: 'team', members: ['a'] }];
    expect(solveWithCoalitions({ capacity: 2000, bids }, one).shares).toEqual(solve({ capacity: 2000, bids }).shares);
    const two = [{ id: 'team', members: ['a', 'b'] }];
    expect(solveWithCoalitions({ capacity: 9000, bids }, two).shares).toEqual([1000, 1000, 2000]);
  });

  test('for any problem and coalition nothing is wasted and nobody is below its claim', () => {
    fc.assert(
      fc.property(weightedInstance, fc.nat(), ({ capacity, bids: given }, size) => {
        const members = given.slice(0, 1 + (size % given.length)).map(({ uid }) => uid);
        const free = solve({ capacity, bids: given });
        const { shares } = solveWithCoalitions({ capacity, bids: given }, [{ id: 'team', members }]);
        expect(sum(shares)).toBe(sum(free.shares));
        if (free.mode === 'overloaded') return;
        shares.forEach((share, index) => {
          expect(share).toBeGreaterThanOrEqual(given[index]?.min ?? 0);
        });
      }),
      { numRuns: 1000 },
    );
  });
});

describe('credits', () => {
  test('a single member is worth what it needs', () => {
    expect(shapleyValues([300], 500)).toEqual([300]);
    expect(shapleyValues([300], 200)).toEqual([200]);
  });

  test('who was content with less has lent, who got more has borrowed', () => {
    expect(
      coalitionCredits(
        [
          { need: 100, share: 80 },
          { need: 50, share: 70 },
        ],
        150,
      ),
    ).toEqual([20, -20]);
  });

  test('equal needs are worth the same', () => {
    expect(shapleyValues([400, 400, 400], 600)).toEqual([200, 200, 200]);
  });

  test('two needs of which one fits alone', () => {
    expect(shapleyValues([100, 300], 300)).toEqual([50, 250]);
  });

  test('many members: the same inputs give the same credits, close to fair', () => {
    const needs = Array.from({ length: 12 }, () => 100);
    const values = shapleyValues(needs, 600);
    expect(values).toEqual(shapleyValues(needs, 600));
    for (const value of values) expect(Math.abs(value - 50)).toBeLessThan(5);
  });

  test('for any needs the values add up to what can be satisfied', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 900 }), { maxLength: 6 }),
        fc.integer({ min: 0, max: 3000 }),
        (needs, total) => {
          expect(sum(shapleyValues(needs, total))).toBeCloseTo(Math.min(total, sum(needs)), 6);
        },
      ),
    );
  });
});
