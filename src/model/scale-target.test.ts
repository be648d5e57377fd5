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

test.each<[string, Partial<ScaleTarget>, boolean]>([
  ['the object that it was made for', {}, true],
  ['another version of that', { apiVersion: 'flink.example.org/v2' }, true],
  ['another one of that kind', { name: 'other' }, false],
  ['one of its name in another group', { apiVersion: 'apps/v1' }, false],
])('of a workload with a controller of somebody else: %s', (_, change, expected) => {
  const owner = { apiVersion: 'flink.example.org/v1', kind: 'Flink', name: 'stream' };
  expect(isTarget({ ...owner, ...change }, { ...web, owner })).toBe(expected);
  expect(isTarget(web, { ...web, owner })).toBe(true);
});
