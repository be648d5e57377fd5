import { expect, test } from 'vitest';
import { createReturns } from './restore.ts';

const ready = { name: 'n1', ready: true };
const cutOff = { name: 'n1', ready: false };

test('a node that was not Ready is back a moment after it was last seen so, whenever that began', () => {
  const { isBack } = createReturns();
  expect(isBack(ready, 0)).toBe(true);
  expect([isBack(cutOff, 1000), isBack(cutOff, 600_000), isBack(ready, 601_000)]).toEqual([false, false, false]);
  expect([isBack(ready, 644_999), isBack({ name: 'n2', ready: true }, 644_999)]).toEqual([false, true]);
  expect(isBack(ready, 645_000)).toBe(true);
});

test('of a node that is gone, or not known, nothing is waited for; nor for long where the clock was set back', () => {
  const { isBack } = createReturns();
  expect(isBack(undefined, 0)).toBe(true);
  expect(isBack(cutOff, 3_600_000)).toBe(false);
  expect(isBack(ready, 0)).toBe(true);
});
