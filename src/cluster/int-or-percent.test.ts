import { describe, expect, test } from 'vitest';
import { resolveIntOrPercent } from './int-or-percent.ts';

describe('resolveIntOrPercent', () => {
  test.each([
    [3, 10, 'up', 3],
    [0, 10, 'down', 0],
    ['25%', 10, 'up', 3],
    ['25%', 10, 'down', 2],
    ['25%', 40, 'up', 10],
    ['100%', 7, 'down', 7],
    ['0%', 7, 'up', 0],
    ['1%', 1, 'up', 1],
    ['1%', 1, 'down', 0],
    ['150%', 4, 'up', 6],
    ['25', 4, 'up', undefined],
    ['x%', 4, 'up', undefined],
    ['-5%', 4, 'up', undefined],
    [undefined, 4, 'up', undefined],
  ] as const)('%s of %i rounded %s is %s', (value, total, rounding, expected) => {
    expect(resolveIntOrPercent(value, total, rounding)).toBe(expected);
  });
});
