import { expect, test } from 'vitest';
import { isOwnManager, otherResizer, sizeManagers } from './size-managers.ts';

test.each([
  [sizeManagers.rightsizing, true],
  [sizeManagers.allocation, true],
  ['stowage', false],
  ['argocd-controller', false],
  ['', false],
])('%j writes sizes for us: %s', (manager, expected) => {
  expect(isOwnManager(manager)).toBe(expected);
});

test('the engines are told apart by their names, which are those of the systems they stand for', () => {
  expect(sizeManagers).toEqual({ rightsizing: 'optipod', allocation: 'mbcas-controller' });
});

test.each([
  [[], undefined],
  [['mbcas-controller', 'optipod'], undefined],
  [['optipod', 'vpa-updater'], 'vpa-updater'],
])('of %j somebody else is %j', (managers, other) => {
  expect(otherResizer({ sizeManagers: managers })).toBe(other);
});
