import { expect, test } from 'vitest';
import { isRather } from './rather-size.ts';

test.each<[string, number | undefined, number, number | null | undefined, boolean]>([
  ['just that', 240, 240, 500, true],
  ['rounded up', 300, 240, 500, true],
  ['rounded down', 200, 240, 500, true],
  ['the other', 500, 240, 500, false],
  ['the other, rounded', 450, 240, 500, false],
  ['both are the same', 240, 240, 240, true],
  ['nothing', undefined, 240, 500, false],
  ['nothing was there before', 250, 240, null, true],
  ['nothing was there before, and a default is given', 100, 240, null, false],
  ['nothing is known of the other', 1, 240, undefined, false],
])('%s', (_, amount, wanted, other, expected) => {
  expect(isRather(amount, wanted, other)).toBe(expected);
});
