import { expect, test } from 'vitest';
import { isRecord, memberOf } from './is-record.ts';

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

test.each<[unknown, string, unknown]>([
  [{ a: 1 }, 'a', 1],
  [{ a: undefined }, 'a', undefined],
  [{ a: 1 }, 'b', undefined],
  [{}, 'constructor', undefined],
  [['x'], 'length', undefined],
  ['text', 'length', undefined],
  [null, 'a', undefined],
  [undefined, 'a', undefined],
])('of %j the member %s', (value, key, expected) => {
  expect(memberOf(value, key)).toBe(expected);
});
