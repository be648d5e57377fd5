import { expect, test } from 'vitest';
import { isFiniteNumber, isRecord, memberOf } from './is-record.ts';

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

test.each<[unknown, boolean]>([
  [0, true],
  [-1.5, true],
  [Number.NaN, false],
  [JSON.parse('1e999'), false],
  ['1', false],
  [1n, false],
  [null, false],
])('%s is a finite number: %s', (value, expected) => {
  expect(isFiniteNumber(value)).toBe(expected);
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
