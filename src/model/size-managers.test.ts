import { expect, test } from 'vitest';
import { isOwnManager, sizeManagers } from './size-managers.ts';

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
