import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type RoundingGroup, roundShares } from './round-shares.ts';

function round(
  x: readonly number[],
  options: {
    upper?: readonly number[];
    weight?: readonly number[];
    uids?: readonly string[];
    groups?: readonly RoundingGroup[];
  } = {},
): number[] {
  const {
    upper = x.map(() => 1000),
    weight = x.map(() => 1),
    uids = x.map((_, index) => `pod-${index}`),
    groups,
  } = options;
  return [...roundShares(Float64Array.from(x), Float64Array.from(upper), Float64Array.from(weight), uids, groups)];
}

describe('largest remainder', () => {
  test.each<[string, number[], number[]]>([
    ['whole numbers stay', round([3, 4]), [3, 4]],
    ['the largest fraction is rounded up', round([1.2, 1.7, 1.1]), [1, 2, 1]],
    ['noise of doubles is no fraction', round([1.9999999999, 3.0000000001]), [2, 3]],
    ['ties: the larger weight', round([1.5, 1.5], { weight: [1, 2] }), [1, 2]],
    ['then the smaller uid', round([1.5, 1.5], { uids: ['b', 'a'] }), [1, 2]],
    ['ties that differ by noise only are ties', round([1.5 + 1e-12, 1.5], { uids: ['b', 'a'] }), [1, 2]],
    ['thirds', round([1000 / 3, 1000 / 3, 1000 / 3]), [334, 333, 333]],
    ['nobody', round([]), []],
  ])('%s', (_name, found, wanted) => {
    expect(found).toEqual(wanted);
  });
});

describe('groups', () => {
  test('a full group gets no more, the next outside does', () => {
    const groups = [{ cap: 3, members: [0, 1] }];
    expect(round([1.6, 1.4, 1.3, 1.7], { groups })).toEqual([2, 1, 1, 2]);
    expect(round([1.9, 1.1, 1.45, 1.55], { groups })).toEqual([2, 1, 1, 2]);
  });

  test('nested caps both hold', () => {
    const groups = [
      { cap: 2, members: [0, 1] },
      { cap: 4, members: [0, 1, 2] },
    ];
    const found = round([1.3, 0.7, 1.9, 1.1], { groups });
    expect(found).toEqual([1, 1, 2, 1]);
  });
});

test('P13: for any values the sum is kept, nobody moves by one, and ties do not depend on the order', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 3000 }), { minLength: 1, maxLength: 12 }), (thirds) => {
      const x = thirds.map((value) => value / 3);
      const rest = Math.ceil(x.reduce((all, value) => all + value, 0)) - x.reduce((all, value) => all + value, 0);
      const padded = [...x, rest];
      const found = round(padded);
      expect(found.reduce((all, value) => all + value, 0)).toBe(
        Math.round(padded.reduce((all, value) => all + value, 0)),
      );
      found.forEach((value, index) => {
        expect(Math.abs(value - (padded[index] ?? 0))).toBeLessThan(1);
      });
      const uids = padded.map((_, index) => `pod-${String(index).padStart(2, '0')}`);
      const straight = round(padded, { uids });
      expect(round([...padded].reverse(), { uids: [...uids].reverse() }).reverse()).toEqual(straight);
    }),
    { numRuns: 1000 },
  );
});
