import { expect, test } from 'vitest';
import { isSameList } from './same-list.ts';

const [a, b] = [{}, {}];

test.each([
  ['the same items', [a, b], [a, b], true],
  ['none', [], [], true],
  ['another order', [a, b], [b, a], false],
  ['a beginning of the other', [a], [a, b], false],
  ['more than the other', [a, b], [a], false],
  ['items that are only alike', [a], [{}], false],
])('%s', (_, one, other, expected) => {
  expect(isSameList(one, other)).toBe(expected);
});
