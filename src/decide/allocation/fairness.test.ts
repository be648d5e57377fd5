import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fairnessOf, jainIndex, logNashProduct, type Served, satisfactionOf } from './fairness.ts';

const served = (share: number, want: number, disagreement = 0, weight = 1): Served => ({
  share,
  want,
  disagreement,
  weight,
});

describe("Jain's index", () => {
  test.each<[string, readonly number[], number]>([
    ['all equal', [0.5, 0.5, 0.5], 1],
    ['one has everything', [1, 0, 0, 0], 0.25],
    ['one to two', [1, 2], 0.9],
    ['nobody', [], 1],
    ['nobody has anything', [0, 0], 1],
  ])('%s', (_name, values, index) => {
    expect(jainIndex(values)).toBeCloseTo(index, 9);
  });

  test('for any values it lies between 1/n and 1 and does not depend on their scale', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 1, maxLength: 20 }), (values) => {
        const index = jainIndex(values);
        expect(index).toBeGreaterThanOrEqual(1 / values.length - 1e-12);
        expect(index).toBeLessThanOrEqual(1 + 1e-12);
        expect(jainIndex(values.map((value) => 7 * value))).toBeCloseTo(index, 9);
      }),
    );
  });
});

test('satisfaction is what was got of what was wanted', () => {
  expect([satisfactionOf(50, 100), satisfactionOf(200, 100), satisfactionOf(0, 0)]).toEqual([0.5, 1, 1]);
});

describe('log Nash product', () => {
  test('weighted logarithms of the surplus', () => {
    expect(logNashProduct([served(300, 900, 200, 2), served(150, 900, 100, 1)])).toBeCloseTo(
      2 * Math.log(100) + Math.log(50),
      9,
    );
  });

  test('who could have no surplus does not count; who could and has none makes it minus infinity', () => {
    expect(logNashProduct([served(100, 100, 100)])).toBe(0);
    expect(logNashProduct([served(100, 200, 100)])).toBe(Number.NEGATIVE_INFINITY);
  });
});

test('all three together', () => {
  expect(fairnessOf([served(100, 100), served(100, 200)])).toMatchObject({ satisfaction: 0.75, jain: 0.9 });
  expect(fairnessOf([])).toEqual({ jain: 1, logNash: 0, satisfaction: 1 });
});
