/** P15: problems at the edge of what can be asked, and what is refused. */
import { describe, expect, test } from 'vitest';
import type { Bid } from './problem.ts';
import { checkedSolver } from './testing/checked-solver.ts';

const { solve } = checkedSolver();

describe('edges', () => {
  const bid = (uid: string, weight: number, min: number, max: number): Bid => ({ uid, weight, min, max });

  test.each<[string, Parameters<typeof solve>[0], readonly number[]]>([
    ['P15: nobody', { capacity: 1000, bids: [] }, []],
    ['P15: nothing to share', { capacity: 0, bids: [bid('a', 1, 0, 100)] }, [0]],
    ['P15: a capacity below zero is none', { capacity: -5, bids: [bid('a', 1, 0, 100)] }, [0]],
    [
      'P15: only pods without weight',
      { capacity: 900, bids: [bid('a', 0, 100, 1000), bid('b', 0, 200, 1000)] },
      [400, 500],
    ],
    ['P15: claim and want are one', { capacity: 900, bids: [bid('a', 1, 300, 300), bid('b', 1, 0, 1000)] }, [300, 600]],
    [
      'P15: one pod that wants everything',
      { capacity: 900, bids: [bid('a', 1, 100, Number.POSITIVE_INFINITY)] },
      [900],
    ],
    [
      'P15: floors do not fit: they are given',
      { capacity: 5, bids: [bid('a', 1, 50, 100), bid('b', 1, 50, 100)] },
      [10, 10],
    ],
    ['P15: a want below the claim is the claim', { capacity: 900, bids: [bid('a', 1, 300, 100)] }, [300]],
  ])('%s', (_name, problem, shares) => {
    expect(solve(problem).shares).toEqual(shares);
  });

  test('P15: ten thousand pods add up', () => {
    const bids = Array.from({ length: 10_000 }, (_, index) =>
      bid(`pod-${index}`, 1 + (index % 7) / 3, index % 90, 40 + ((index * 37) % 400)),
    );
    expect(solve({ capacity: 1_200_000, bids }).shares.reduce((sum, share) => sum + share, 0)).toBe(1_200_000);
  });

  test.each<[string, Partial<Bid>]>([
    ['NaN weight', { weight: Number.NaN }],
    ['negative weight', { weight: -1 }],
    ['endless weight', { weight: Number.POSITIVE_INFINITY }],
    ['NaN claim', { min: Number.NaN }],
    ['negative claim', { min: -1 }],
    ['NaN want', { max: Number.NaN }],
    ['NaN disagreement', { disagreement: Number.NaN }],
    ['NaN floor', { floor: Number.NaN }],
  ])('refused with the pod and its numbers: %s', (_name, change) => {
    const bids = [{ ...bid('pod-x', 1, 100, 200), ...change }];
    expect(() => solve({ capacity: 1000, bids })).toThrow(/bid of pod-x: weight /);
  });

  test('refused: one uid twice, a capacity that is not a number', () => {
    expect(() => solve({ capacity: 1, bids: [bid('a', 1, 0, 1), bid('a', 1, 0, 1)] })).toThrow(
      'two bids have the uid "a"',
    );
    expect(() => solve({ capacity: Number.NaN, bids: [] })).toThrow('capacity is NaN');
  });

  test('conflicts and overcommitment are told', () => {
    const { conflicts, overcommitted } = solve({ capacity: 15, bids: [bid('a', 1, 300, 100), bid('b', 1, 50, 50)] });
    expect(conflicts).toEqual(['a']);
    expect(overcommitted).toBe(true);
  });
});
