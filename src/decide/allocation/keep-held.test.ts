import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Held, solveHeld } from './keep-held.ts';
import type { Bid, Problem } from './problem.ts';
import { solve } from './solve.ts';
import { filledInstance } from './testing/instances.ts';

/** A pod that wants no more than its claim. */
const bid = (uid: string, claim: number): Bid => ({ uid, weight: 1, min: claim, max: claim });
const held = (kept: number, request = kept): Held => ({ kept, current: { request } });
const sharesOf = (problem: Problem, rows: readonly Held[]): readonly number[] =>
  solveHeld(problem, rows).solution.shares;
const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

describe('what cannot be lowered', () => {
  test('where everybody gets as much the problem is as it was', () => {
    const problem = { capacity: 1000, bids: [bid('a', 600), bid('b', 300)] };
    expect(solveHeld(problem, [held(600), held(300)])).toEqual({ problem, solution: solve(problem) });
    expect(solveHeld({ capacity: 1000, bids: [] }, []).solution.shares).toEqual([]);
  });

  test.each<[string, Problem, readonly Held[], readonly number[]]>([
    [
      'the others divide what it leaves',
      { capacity: 1000, bids: [bid('a', 600), bid('b', 500), bid('c', 500)] },
      [held(600), held(0, 300), held(0, 100)],
      [600, 200, 200],
    ],
    [
      'who is not above it in the bargain is lowered',
      { capacity: 1000, bids: [bid('a', 600), bid('b', 500), bid('c', 100)] },
      [held(600), held(0, 350), held(0, 50)],
      [600, 300, 100],
    ],
    [
      'where there is no room beside it, nobody is raised',
      { capacity: 1000, bids: [bid('a', 900), bid('b', 400)] },
      [held(900), held(0, 100)],
      [900, 100],
    ],
    [
      'nor lowered for it',
      { capacity: 1000, bids: [bid('a', 900), bid('b', 200)] },
      [held(900), held(0, 200)],
      [900, 200],
    ],
    [
      'of a limit, what the others request is enough',
      { capacity: 1000, bids: [bid('a', 800), bid('b', 700)] },
      [held(800), held(0, 50)],
      [800, 200],
    ],
    [
      'in whole quanta',
      { capacity: 805, quantum: 10, bids: [bid('a', 705), bid('b', 300)] },
      [held(705), held(0, 100)],
      [710, 100],
    ],
    [
      'within a quota, too',
      { capacity: 2000, bids: [bid('a', 300), bid('b', 400)], groups: [{ id: 'q', cap: 400, members: ['a', 'b'] }] },
      [held(300), held(0, 100)],
      [300, 100],
    ],
  ])('%s', (_name, problem, rows, shares) => {
    expect(sharesOf(problem, rows)).toEqual(shares);
  });

  test('for any node: it is kept, the others get no more for it, and raises are paid for by what can be lowered', () => {
    const row = fc.record({ kept: fc.double({ min: 0, max: 1, noNaN: true }), more: fc.integer({ min: 0, max: 400 }) });
    let kept = 0;
    fc.assert(
      fc.property(
        filledInstance,
        fc.array(row, { minLength: 12, maxLength: 12 }),
        fc.constantFrom('weights' as const, 'tiers' as const),
        ({ bids, capacity }, rows, overload) => {
          const problem = { capacity, bids: bids.map((each, index) => ({ ...each, tier: index % 3 })), overload };
          const own = bids.map(({ min }, index) => {
            const { kept: part = 0, more = 0 } = rows[index] ?? {};
            const least = Math.floor(part * min);
            return held(least, least + more);
          });
          const plain = solve(problem).shares;
          const shares = sharesOf(problem, own);
          shares.forEach((share, index) => {
            const least = own[index]?.kept ?? 0;
            if (least > (plain[index] ?? 0)) kept++;
            expect(share).toBeGreaterThanOrEqual(least);
            // By as much as rounding adds.
            expect(share).toBeLessThanOrEqual(Math.max(least, plain[index] ?? 0) + bids.length);
          });
          const there = sum(own.map(({ current }) => Math.max(10, current.request)));
          expect(sum(shares)).toBeLessThanOrEqual(Math.max(capacity, there));
        },
      ),
      { numRuns: 2000 },
    );
    expect(kept).toBeGreaterThan(100);
  });
});
