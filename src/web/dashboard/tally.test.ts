import { expect, test } from 'vitest';
import { tally } from './tally.ts';

test('counts names, in their order', () => {
  expect(Object.entries(tally(['b', 'a', 'b', '__proto__', 'b']))).toEqual([
    ['__proto__', 1],
    ['a', 1],
    ['b', 3],
  ]);
  expect(tally([])).toEqual({});
});
