import { describe, expect, test } from 'vitest';
import type { ObjectMeta } from '../api/core.ts';
import { aContainer, smallSize } from '../model/testing/sizing-records.ts';
import { appliedByOptipod, changesWithApplied } from './applied-fields.ts';

type Entry = NonNullable<ObjectMeta['managedFields']>[number];

const fieldsOf = (list: string, containers: Readonly<Record<string, object>>) => ({
  'f:spec': {
    'f:template': {
      'f:spec': {
        [list]: Object.fromEntries(
          Object.entries(containers).map(([name, amounts]) => [`k:{"name":"${name}"}`, { 'f:resources': amounts }]),
        ),
      },
    },
  },
});
const both = { 'f:requests': { 'f:cpu': {}, 'f:memory': {} }, 'f:limits': { 'f:memory': {} } };
const entry = (fieldsV1: object, changes: Partial<Entry> = {}): Entry => ({
  manager: 'optipod',
  operation: 'Apply',
  fieldsV1,
  ...changes,
});
const read = (...entries: Entry[]) =>
  Object.fromEntries([...appliedByOptipod(entries)].map(([name, keys]) => [name, [...keys]]));

describe('what our applies own', () => {
  test('by container and amount, native sidecars too; what no field names is not among it', () => {
    expect(read(entry(fieldsOf('f:containers', { app: both, log: {} })))).toEqual({
      app: ['cpuRequest', 'memoryRequest', 'memoryLimit'],
    });
    const proxy = entry(fieldsOf('f:initContainers', { proxy: { 'f:limits': { 'f:cpu': {} } } }));
    expect(read(proxy)).toEqual({ proxy: ['cpuLimit'] });
  });

  test('of several entries it is all of them', () => {
    const cpu = entry(fieldsOf('f:containers', { app: { 'f:requests': { 'f:cpu': {} } } }));
    const memory = entry(fieldsOf('f:containers', { app: { 'f:requests': { 'f:memory': {} } } }));
    expect(read(cpu, memory)).toEqual({ app: ['cpuRequest', 'memoryRequest'] });
  });

  test.each<[string, Entry]>([
    ['another manager', entry(fieldsOf('f:containers', { app: both }), { manager: 'gitops' })],
    ['an update of ours', entry(fieldsOf('f:containers', { app: both }), { operation: 'Update' })],
    [
      'a key that names no container',
      entry({ 'f:spec': { 'f:template': { 'f:spec': { 'f:containers': { x: both } } } } }),
    ],
    ['what cannot be read', entry({ 'f:spec': 'odd' })],
  ])('%s owns nothing for us', (_, odd) => {
    expect(read(odd)).toEqual({});
  });

  test('no managed fields at all', () => {
    expect([...appliedByOptipod(undefined)]).toEqual([]);
  });
});

test('an apply says again what it owns at its present value, and its changes over that', () => {
  const { cpuLimit: _none, ...size } = smallSize;
  const containers = [aContainer({ size }), aContainer({ name: 'log' })];
  const applied = new Map([
    ['app', new Set(['cpuRequest', 'cpuLimit', 'memoryRequest'] as const)],
    ['gone', new Set(['cpuRequest'] as const)],
  ]);
  const changes = [{ container: 'app', to: { cpuRequest: 999 } }];
  const all = changesWithApplied(containers, changes, applied);
  expect(all).toEqual([{ container: 'app', to: { cpuRequest: 999, memoryRequest: smallSize.memoryRequest } }]);
});
