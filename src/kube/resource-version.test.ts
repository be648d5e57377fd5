import { expect, test } from 'vitest';
import { isOlder, parseResourceVersion } from './resource-version.ts';

test.each([
  ['0', 0],
  ['12345', 12345],
  [undefined, undefined],
  ['', undefined],
  ['1.5', undefined],
  ['-1', undefined],
  ['abc', undefined],
  ['1a', undefined],
  ['99999999999999999999', undefined],
  ['9007199254740993', undefined],
])('the version %j is %j as a number', (text, version) => {
  expect(parseResourceVersion(text)).toBe(version);
});

test('only what has an order can be older', () => {
  expect(isOlder(9, 10)).toBe(true);
  expect(isOlder(10, 10)).toBe(false);
  expect(isOlder(11, 10)).toBe(false);
  expect(isOlder(undefined, 10)).toBe(false);
  expect(isOlder(1, undefined)).toBe(false);
});
