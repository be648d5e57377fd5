import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Bid } from './problem.ts';
import { solve } from './solve.ts';
import { filledInstance } from './testing/instances.ts';

const RUNS = 2000;
const EPS = 1e-6;
const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
const lower = (bid: Bid | undefined): number => bid?.min ?? 0;
const holds = <Input>(inputs: fc.Arbitrary<Input>, rule: (input: Input) => void): void =>
  fc.assert(fc.property(inputs, rule), { numRuns: RUNS });

describe('tiers in overload', () => {
  const tiered = (uid: string, min: number, tier: number): Bid => ({ uid, weight: 1, min, max: 1000, tier });

  test('the highest tier gets its claims, the first that does not fit shares, the others keep the floor', () => {
    const bids = [tiered('a', 300, 2), tiered('b', 300, 1), tiered('c', 300, 1), tiered('d', 300, 0)];
    const { shares, mode } = solve({ capacity: 610, bids, overload: 'tiers' });
    expect([shares, mode]).toEqual([[300, 150, 150, 10], 'overloaded']);
  });

  test('for any tiers: the capacity is used up, nobody is above its claim, and more capacity costs nobody', () => {
    holds(
      fc.tuple(filledInstance, fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 12, maxLength: 12 })),
      ([instance, tiers]) => {
        const bids = instance.bids.map((bid, index) => ({ ...bid, tier: tiers[index] ?? 0 }));
        const { capacity } = instance;
        const { shares, exact, mode, overcommitted } = solve({ capacity, bids, overload: 'tiers' });
        if (mode !== 'overloaded' || overcommitted) return;
        expect(sum(shares)).toBe(capacity);
        const more = solve({ capacity: capacity + 7, bids, overload: 'tiers' }).exact;
        exact.forEach((x, index) => {
          expect(x).toBeLessThanOrEqual(lower(bids[index]) + EPS);
          expect(more[index]).toBeGreaterThanOrEqual(x - EPS);
        });
      },
    );
  });
});
