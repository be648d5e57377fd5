import { expect, test } from 'vitest';
import { millisOf } from './allocation-part.ts';

test.each([
  ['450m', 450],
  ['2', 2000],
  ['1.5', 1500],
  ['1500000n', 1.5],
  ['250u', 0.25],
  ['', 0],
  ['nonsense', 0],
])('%j is %d millicores', (quantity, millis) => {
  expect(millisOf(quantity)).toBeCloseTo(millis);
});
