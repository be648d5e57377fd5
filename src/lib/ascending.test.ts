import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ascending } from './ascending.ts';

describe('ascending order', () => {
  test('of texts is by code unit, not by locale', () => {
    expect(['b', 'a', 'B', 'ä', '', 'a'].sort(ascending)).toEqual(['', 'B', 'a', 'a', 'b', 'ä']);
  });

  test('of numbers is by size, infinities included', () => {
    expect([10, 9, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, -1].sort(ascending)).toEqual([
      Number.NEGATIVE_INFINITY,
      -1,
      9,
      10,
      Number.POSITIVE_INFINITY,
    ]);
    expect(ascending(Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY)).toBe(0);
  });

  test('is the other way round for the other way round', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        expect(ascending(a, b)).toBe(0 - ascending(b, a));
        expect(ascending(a, b) === 0).toBe(a === b);
      }),
    );
  });
});
