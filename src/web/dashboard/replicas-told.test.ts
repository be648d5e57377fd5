import { expect, test } from 'vitest';
import { noAdvice } from '../../decide/rightsizing/advice.ts';
import type { ReplicaTold } from '../../decide/rightsizing/replica-text.ts';
import { freshState, sizesOf } from '../../model/replica-sizes.ts';
import { aContainer, MIB } from '../../model/testing/sizing-records.ts';
import { replicasTold } from './replicas-told.ts';

const inForce = [aContainer({ size: { cpuRequest: 120, memoryLimit: 100 * MIB } })];
const told = (replica: string, changes: Partial<ReplicaTold> = {}): ReplicaTold => ({
  replica,
  pod: `db-${replica}`,
  state: undefined,
  isKnown: true,
  inForce,
  advice: [],
  ...changes,
});

test('by ordinal: what each has, what it should, and whether that is its own', () => {
  const advice = [
    {
      container: 'app',
      current: {},
      cpu: { ...noAdvice('NoData', ''), target: 240 },
      memory: noAdvice('NoData', ''),
    },
  ];
  const replicas = [
    told('10', { isKnown: false }),
    told('2', { state: { ...freshState(inForce), changedAt: 7 }, advice }),
    told('3'),
  ];
  expect(replicasTold(replicas)).toEqual([
    {
      replica: '2',
      pod: 'db-2',
      size: 'own',
      changedAt: 7,
      isWatched: false,
      floors: [],
      containers: [{ container: 'app', cpu: 120, cpuAdvised: 240, memory: 100 * MIB, memoryAdvised: undefined }],
    },
    expect.objectContaining({ replica: '3', size: 'of-all', changedAt: undefined }),
    expect.objectContaining({ replica: '10', size: 'unknown' }),
  ]);
});

test('what is watched, and what has done harm', () => {
  const floors = [{ container: 'app', resource: 'cpu' as const, atLeast: 200, until: 0 }];
  const state = { ...freshState(inForce), before: sizesOf(inForce), lessons: { floors, reverts: 1 } };
  expect(replicasTold([told('0', { state })])).toMatchObject([
    { isWatched: true, floors: ['app cpu not below 200m until 1970-01-01T00:00:00Z: less did harm'] },
  ]);
});
