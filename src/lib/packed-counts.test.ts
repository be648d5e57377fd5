import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countAt, MOST_COUNT, packedCounts, putCount } from './packed-counts.ts';

test('begins with nothing, four in a number', () => {
  expect(packedCounts(5)).toEqual([0, 0, 0]);
  expect(countAt(packedCounts(5), 4)).toBe(0);
  expect(countAt([], 7)).toBe(0);
});

test.each([
  [2 ** 13 - 1, 2],
  [2 ** 13, 3],
  [2 ** 17 - 1, 3],
  [2 ** 17, 5],
  [MOST_COUNT, 5],
])('six counts with %s among them take %s numbers', (count, numbers) => {
  const counts = putCount(putCount(packedCounts(6), 1, 7), 5, count);
  expect(counts).toHaveLength(1 + numbers);
  expect([1, 5].map((place) => countAt(counts, place))).toEqual([7, count]);
});

test('for any counts, each is what was put last, up to the most there is', () => {
  const edges = [13, 17, 26].flatMap((bits) => [2 ** bits - 1, 2 ** bits]);
  const count = fc.oneof(fc.nat(10), fc.nat(2 ** 18), fc.nat(2 * MOST_COUNT), fc.constantFrom(...edges, 2 ** 40));
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(8), count)), (puts) => {
      let counts = packedCounts(9);
      const plain = Array.from({ length: 9 }, () => 0);
      for (const [place, value] of puts) {
        counts = putCount(counts, place, value);
        plain[place] = Math.min(MOST_COUNT, value);
      }
      expect(plain.map((_, place) => countAt(counts, place))).toEqual(plain);
    }),
  );
});
