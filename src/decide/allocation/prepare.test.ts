import { describe, expect, test } from 'vitest';
import { prepare } from './prepare.ts';
import type { Bid, Problem } from './problem.ts';

const bid = (uid: string, change: Partial<Bid> = {}): Bid => ({ uid, weight: 1, min: 105, max: 219, ...change });
const problem = (change: Partial<Problem> = {}): Problem => ({ capacity: 1000, bids: [bid('a')], ...change });
const columnsOf = (given: Problem) => {
  const { columns, floors, capacity } = prepare(given);
  return { d: columns.disagreement[0], l: columns.lower[0], u: columns.upper[0], floor: floors[0], capacity };
};

describe('counted in quanta', () => {
  test.each<[string, Problem, object]>([
    ['of 1m', problem(), { d: 105, l: 105, u: 219, floor: 10, capacity: 1000 }],
    ['of 10m: claims up, wants down', problem({ quantum: 10 }), { d: 11, l: 11, u: 21, floor: 1, capacity: 100 }],
    ['a want is at most the capacity', problem({ bids: [bid('a', { max: Number.POSITIVE_INFINITY })] }), { u: 1000 }],
    ['parts of a quantum do not exist', problem({ capacity: 1009.9, quantum: 10 }), { capacity: 100 }],
    ['disagreement zero', problem({ disagreement: 'zero' }), { d: 0, l: 105 }],
    ['disagreement of its own', problem({ disagreement: 'own', bids: [bid('a', { disagreement: 40 })] }), { d: 40 }],
    ['at most the claim', problem({ disagreement: 'own', bids: [bid('a', { disagreement: 400 })] }), { d: 105 }],
    ['none given: the claim', problem({ disagreement: 'own' }), { d: 105 }],
    ['a claim below the floor is its own floor', problem({ bids: [bid('a', { min: 4 })] }), { floor: 4 }],
    ['a floor of its own', problem({ bids: [bid('a', { floor: 71 })] }), { floor: 71 }],
    ['up, too', problem({ quantum: 10, bids: [bid('a', { floor: 71 })] }), { floor: 8 }],
    ['at most the claim', problem({ bids: [bid('a', { floor: 400 })] }), { floor: 105 }],
    ['at least that of all', problem({ bids: [bid('a', { floor: 7 })] }), { floor: 10 }],
  ])('%s', (_name, given, wanted) => {
    expect(columnsOf(given)).toMatchObject(wanted);
  });
});

describe('one order for all', () => {
  const uids = Array.from({ length: 500 }, (_, index) => `pod-${index}`);

  test('rows do not depend on the order of bids', () => {
    const straight = prepare(problem({ bids: uids.map((uid) => bid(uid)) }));
    const reverse = prepare(problem({ bids: [...uids].reverse().map((uid) => bid(uid)) }));
    expect(reverse.uids).toEqual(straight.uids);
    expect(new Set(straight.uids)).toEqual(new Set(uids));
    expect(reverse.order.map((index) => uids.length - 1 - index)).toEqual(straight.order);
  });

  test('two uids of one hash are two bids, in either order', () => {
    // Found by trying: FNV-1a of 32 bits gives both the same value.
    const pair = ['costarring', 'liquid'];
    const rows = [pair, [...pair].reverse()].map(
      (each) => prepare(problem({ bids: each.map((uid) => bid(uid)) })).uids,
    );
    expect(rows).toEqual([pair, pair]);
  });
});

describe('groups', () => {
  test('rows of known members, each once, the smallest group first', () => {
    const bids = ['a', 'b', 'c'].map((uid) => bid(uid));
    const { groups, uids } = prepare(
      problem({
        bids,
        quantum: 10,
        groups: [
          { id: 'large', cap: 999, members: ['a', 'b', 'c'] },
          { id: 'small', cap: 555, members: ['b', 'b', 'gone'] },
        ],
      }),
    );
    expect(groups.map(({ cap, members }) => [cap, members.map((row) => uids[row])])).toEqual([
      [55, ['b']],
      [99, ['a', 'b', 'c']],
    ]);
  });
});
