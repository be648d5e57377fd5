import { describe, expect, test } from 'vitest';
import type { Bid, Problem } from './problem.ts';
import { solve } from './solve.ts';

const big = Number.POSITIVE_INFINITY;
const bids = (...rows: readonly (readonly [weight: number, min: number, max: number])[]): Bid[] =>
  rows.map(([weight, min, max], index) => ({ uid: `pod-${index}`, weight, min, max }));

interface Golden {
  readonly name: string;
  readonly problem: Problem;
  readonly shares: readonly number[];
  readonly shadowPrice?: number;
}

const golden: readonly Golden[] = [
  {
    name: 'three pods, two sated',
    problem: { capacity: 1000, bids: bids([1, 100, 300], [1, 100, 300], [1, 100, 1000]) },
    shares: [300, 300, 400],
    shadowPrice: 1 / 300,
  },
  {
    name: 'everybody sated: capacity has no price',
    problem: { capacity: 1000, bids: bids([1, 100, 200], [1, 100, 200], [1, 100, 200]) },
    shares: [200, 200, 200],
    shadowPrice: 0,
  },
  {
    name: 'surplus two to one',
    problem: { capacity: 600, bids: bids([2, 100, 1000], [1, 100, 1000]) },
    shares: [367, 233],
    shadowPrice: 0.0075,
  },
  {
    name: 'a remainder of one goes to the first uid',
    problem: { capacity: 1000, bids: bids([1, 0, big], [1, 0, big], [1, 0, big]) },
    shares: [334, 333, 333],
  },
  {
    name: 'three equal pods with claims',
    problem: { capacity: 1000, bids: bids([1, 100, big], [1, 100, big], [1, 100, big]) },
    shares: [334, 333, 333],
  },
  {
    name: 'weights far apart',
    problem: { capacity: 2000, bids: bids([500, 200, 3600], [100, 200, 300], [100, 100, 3600]) },
    shares: [1367, 300, 333],
  },
  {
    name: 'one sated, the others four to two to one',
    problem: { capacity: 2000, bids: bids([4, 200, 600], [2, 200, 2000], [1, 100, 2000]) },
    shares: [600, 933, 467],
  },
  {
    name: 'weight 0 gets what the others leave',
    problem: { capacity: 2000, bids: bids([4, 200, 300], [2, 200, 400], [0, 100, big]) },
    shares: [300, 400, 1300],
  },
  {
    name: 'weight 0 stays at its claim while others want more',
    problem: { capacity: 600, bids: bids([1, 200, 900], [0, 100, big]) },
    shares: [500, 100],
  },
  {
    name: 'claims first, the surplus equally',
    problem: { capacity: 1800, bids: bids([1, 800, big], [1, 100, big]) },
    shares: [1250, 550],
  },
  {
    name: 'disagreement zero: equal totals',
    problem: { capacity: 1800, bids: bids([1, 800, big], [1, 100, big]), disagreement: 'zero' },
    shares: [900, 900],
  },
  {
    name: 'overload of equal claims',
    problem: { capacity: 1000, bids: bids([1, 600, big], [1, 600, big]) },
    shares: [500, 500],
  },
  {
    name: 'overload never gives more than the claim',
    problem: { capacity: 190, bids: bids([1.2, 100, big], [0.8, 100, big]) },
    shares: [100, 90],
  },
  {
    name: 'overload by weight',
    problem: { capacity: 300, bids: bids([1, 200, big], [3, 200, big]) },
    shares: [100, 200],
  },
  {
    name: 'overload one short of all claims',
    problem: { capacity: 999, bids: bids([10, 500, big], [1, 500, big]) },
    shares: [500, 499],
  },
  {
    name: 'overload of three',
    problem: { capacity: 300, bids: bids([4, 200, big], [2, 200, big], [1, 100, big]) },
    shares: [171, 86, 43],
  },
  {
    name: 'a group under its cap, the rest to the others',
    problem: {
      capacity: 3000,
      bids: bids([1, 100, big], [3, 100, big], [2, 100, 2000]),
      groups: [{ id: 'team', cap: 800, members: ['pod-0', 'pod-1'] }],
    },
    shares: [250, 550, 2000],
  },
];

describe('golden vectors', () => {
  test.each(golden)('$name', ({ problem, shares, shadowPrice }) => {
    const solution = solve(problem);
    expect(solution.shares).toEqual(shares);
    if (shadowPrice !== undefined) expect(solution.shadowPrice).toBeCloseTo(shadowPrice, 9);
  });
});
