import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSortedNumbers } from './sorted-numbers.ts';

describe('numbers in order', () => {
  test('for any that come and go, those that are left, whatever their number', () => {
    const steps = fc.array(fc.tuple(fc.integer({ min: -20, max: 20 }), fc.boolean()), { maxLength: 100 });
    fc.assert(
      fc.property(steps, (list) => {
        const numbers = createSortedNumbers();
        let expected: number[] = [];
        for (const [value, comes] of list) {
          const at = expected.indexOf(value);
          if (comes) expected = [...expected, value];
          else if (at >= 0) expected = expected.toSpliced(at, 1);
          if (comes) numbers.insert(value);
          else numbers.remove(value);
        }
        expected.sort((a, b) => a - b);
        expect(numbers.values()).toEqual(expected);
        expect(numbers.length()).toBe(expected.length);
        for (const [rank, value] of expected.entries()) expect(numbers.at(rank)).toBe(value);
        expect(numbers.at(expected.length)).toBeUndefined();
      }),
    );
  });

  test('in many pieces, equal ones across them, and back to none', () => {
    const numbers = createSortedNumbers();
    const all = Array.from({ length: 6000 }, (_, index) => (index * 7919) % 5);
    for (const value of all) numbers.insert(value);
    expect(numbers.values()).toEqual(all.toSorted((a, b) => a - b));
    expect(numbers.at(1199)).toBe(0);
    expect(numbers.at(1200)).toBe(1);
    for (const value of all) numbers.remove(value);
    expect(numbers.values()).toEqual([]);
    numbers.insert(3);
    expect(numbers.at(0)).toBe(3);
  });
});
