import fc from 'fast-check';
import { expect, test } from 'vitest';
import { firstIndex } from './first-index.ts';

test('for any sorted numbers and any start, it is the first that holds, or the end', () => {
  const numbers = fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 40 });
  fc.assert(
    fc.property(numbers, fc.integer({ min: -1, max: 51 }), fc.nat(40), (list, bound, start) => {
      const sorted = [...list].sort((a, b) => a - b);
      const from = Math.min(start, sorted.length);
      const expected = sorted.findIndex((value, index) => index >= from && value >= bound);
      const found = firstIndex(sorted.length, (index) => (sorted[index] ?? 0) >= bound, from);
      expect(found).toBe(expected === -1 ? sorted.length : expected);
    }),
  );
});

test('asks a logarithmic number of times', () => {
  let asked = 0;
  firstIndex(1_000_000, (index) => ++asked > 0 && index >= 765_432);
  expect(asked).toBeLessThanOrEqual(20);
});
