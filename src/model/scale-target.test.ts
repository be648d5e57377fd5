import { expect, test } from 'vitest';
import { isTarget, type ScaleTarget } from './scale-target.ts';

const web = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };

test.each<[string, Partial<ScaleTarget>, boolean]>([
  ['the workload itself', {}, true],
  ['another version of its API', { apiVersion: 'apps/v1beta2' }, true],
  ['another group', { apiVersion: 'argoproj.io/v1alpha1' }, false],
  ['the core group', { apiVersion: 'v1' }, false],
  ['another kind', { kind: 'StatefulSet' }, false],
  ['another name', { name: 'api' }, false],
])('%s', (_, change, expected) => {
  expect(isTarget({ ...web, ...change }, web)).toBe(expected);
});
