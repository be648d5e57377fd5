import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countAt, MOST_COUNT, pairedCounts, putCount } from './paired-counts.ts';

test('begins with nothing, in half as many numbers', () => {
  expect(pairedCounts(5)).toEqual([0, 0, 0]);
  expect(countAt(pairedCounts(5), 4)).toBe(0);
  expect(countAt([], 7)).toBe(0);
});

test('for any counts, each is what was put last, up to the most there is', () => {
  const count = fc.oneof(fc.nat(10), fc.nat(2 * MOST_COUNT), fc.constantFrom(MOST_COUNT, MOST_COUNT + 1, 2 ** 40));
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(8), count)), (puts) => {
      const pairs = pairedCounts(9);
      const plain = Array.from({ length: 9 }, () => 0);
      for (const [place, value] of puts) {
        putCount(pairs, place, value);
        plain[place] = Math.min(MOST_COUNT, value);
      }
      expect(plain.map((_, place) => countAt(pairs, place))).toEqual(plain);
    }),
  );
});
