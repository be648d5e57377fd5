import { expect, test } from 'vitest';
import { isRecord } from './is-record.ts';

test.each<[unknown, boolean]>([
  [{}, true],
  [{ a: 1 }, true],
  [Object.create(null), true],
  [null, false],
  [undefined, false],
  [[], false],
  ['text', false],
  [7, false],
])('%j: %s', (value, expected) => {
  expect(isRecord(value)).toBe(expected);
});
