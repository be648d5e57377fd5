import { expect, test } from 'vitest';
import { percentText } from './percent-text.ts';

test.each([
  [0, 0, '0 %'],
  [0.124, 0, '12 %'],
  [0.125, 0, '13 %'],
  [1, 0, '100 %'],
  [2.5, 0, '250 %'],
  [0.1234, 1, '12.3 %'],
  [0.12, 1, '12 %'],
  [0.0004, 1, '0 %'],
] as const)('%d with %d decimals is %s', (share, decimals, expected) => {
  expect(percentText(share, decimals)).toBe(expected);
});
