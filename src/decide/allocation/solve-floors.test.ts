/** Floors of one's own: what a pod keeps in overload, as it cannot be lowered. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Bid } from './problem.ts';
import { checkedSolver } from './testing/checked-solver.ts';
import { filledInstance } from './testing/instances.ts';

const { solve, compared } = checkedSolver();
const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
const bid = (uid: string, min: number, floor?: number): Bid => ({
  uid,
  weight: 1,
  min,
  max: min,
  ...(floor !== undefined && { floor }),
});

describe('floors in overload', () => {
  test.each<[string, number, readonly Bid[], readonly number[]]>([
    ['the others divide the rest', 500, [bid('a', 300, 300), bid('b', 300), bid('c', 300)], [300, 100, 100]],
    ['one that is met anyway changes nothing', 500, [bid('a', 300, 200), bid('b', 300)], [250, 250]],
    ['none is above the claim', 250, [bid('a', 200, 900), bid('b', 300)], [200, 50]],
    ['where claims fit nobody needs one', 900, [bid('a', 200, 900), bid('b', 300)], [200, 300]],
    ['they are given where they do not fit', 250, [bid('a', 200, 200), bid('b', 300, 100)], [200, 100]],
  ])('%s', (_name, capacity, bids, shares) => {
    expect(solve({ capacity, bids }).shares).toEqual(shares);
  });

  test('P2, P4, P5: for any floors: kept, what bisection finds, and more capacity costs nobody', () => {
    const part = fc.option(fc.integer({ min: 0, max: 700 }), { nil: undefined });
    let overloaded = 0;
    fc.assert(
      fc.property(
        filledInstance,
        fc.array(part, { minLength: 12, maxLength: 12 }),
        ({ capacity, bids: plain }, parts) => {
          const bids = plain.map((each, index): Bid => {
            const floor = parts[index];
            return floor === undefined ? each : { ...each, floor };
          });
          const { shares, exact, mode, overcommitted } = solve({ capacity, bids });
          const more = solve({ capacity: capacity + 7, bids }).exact;
          exact.forEach((x, index) => {
            const { min = 0, floor = 0 } = bids[index] ?? {};
            expect(shares[index]).toBeGreaterThanOrEqual(Math.min(min, floor));
            expect(more[index]).toBeGreaterThanOrEqual(x - 1e-6);
          });
          if (mode === 'overloaded' && !overcommitted) expect(sum(shares)).toBe(capacity);
          if (mode === 'overloaded') overloaded++;
        },
      ),
      { numRuns: 2000 },
    );
    expect(overloaded).toBeGreaterThan(100);
    expect(compared()).toBeGreaterThanOrEqual(4000);
  });
});
