import { expect, test } from 'vitest';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { noLessons } from '../../model/learned-floors.ts';
import { sizesOf, writeReplicaSizes } from '../../model/replica-sizes.ts';
import { createSizingSnapshot } from '../../model/sizing-snapshot.ts';
import { aDeployment, aReplicaSet, aStatefulSet, NOON } from '../../model/testing/records.ts';
import { aSizedPod, aSizedWorkload } from '../../model/testing/sizing-records.ts';
import { UsageProfile } from '../../model/usage-profile.ts';
import type { CollectionState } from '../../observe/usage/collector-port.ts';
import { createMemoryUse } from './memory-use.ts';

test('of a replica that has a size of its own, its own use; of any other, that of the hottest', () => {
  const used = (memory: number): UsageProfile => {
    const profile = new UsageProfile({ usualHalfLifeMillis: 8 * HOUR, startupExclusionMillis: 0 });
    profile.add({ at: NOON - HOUR, memory });
    return profile;
  };
  const profiles = new Map([
    ['db', used(900)],
    ['db#0', used(300)],
    ['db#1', used(400)],
  ]);
  const template = aSizedWorkload().containers;
  const state = { sizes: sizesOf(template), changedAt: undefined, before: undefined, lessons: noLessons };
  const annotations = { 'optipod.io/replica-sizes': writeReplicaSizes(template, new Map([['0', state]])) ?? '' };
  const db = aSizedWorkload({ kind: 'StatefulSet', name: 'db', annotations });
  const owner = aStatefulSet({ uid: db.uid, name: 'db' });
  const pods = ['db-0', 'db-1'].map((name) => aSizedPod(owner, name, {}, { uid: name }));
  const memoryOf = createMemoryUse({
    view: createSizingSnapshot({ workloads: [db], pods }),
    usage: {
      profileOf: ({ name }) => profiles.get(name),
      stateOf: () => ({ ...read, measured: { pods: ['db-0', 'db-1'], times: [NOON, NOON] } }),
    },
    clock: createVirtualClock(NOON),
  });
  expect(pods.map((pod) => memoryOf(pod, 'app')?.peak)).toEqual([300, 900]);
});

const HOUR = 3_600_000;
const read = { source: 'x', lastSuccessAt: NOON, problem: undefined, missing: [] } as const;

function use(state: Partial<CollectionState>, container = 'app') {
  const profile = new UsageProfile({ usualHalfLifeMillis: 8 * HOUR, startupExclusionMillis: 0 });
  profile.add({ at: NOON - HOUR, memory: 300 });
  profile.add({ at: NOON - 13 * HOUR, memory: 900 });
  const web = aSizedWorkload();
  const replicaSet = aReplicaSet(aDeployment({ uid: web.uid }));
  const pod = aSizedPod(replicaSet, 'web-1', {}, { uid: 'web-1' });
  const memoryOf = createMemoryUse({
    view: createSizingSnapshot({ workloads: [web], replicaSets: [replicaSet], pods: [pod] }),
    usage: {
      profileOf: (_, name) => (name === 'app' ? profile : undefined),
      stateOf: () => ({ ...read, measured: { pods: ['web-1'], times: [NOON] }, ...state }),
    },
    clock: createVirtualClock(NOON),
  });
  return memoryOf(pod, container);
}

const problem = { reason: 'Unreachable', message: 'no route' } as const;

test.each<[string, Partial<CollectionState>, ReturnType<typeof use>]>([
  ['read', {}, { now: undefined, peak: 300 }],
  ['not read at present', { problem: { ...problem, reason: 'NoData' } }, undefined],
  ['read in part', { missing: [{ container: 'app', resource: 'memory' }] }, undefined],
  ['read but for the CPU', { missing: [{ container: 'app', resource: 'cpu' }] }, { now: undefined, peak: 300 }],
  ['read but for another one', { missing: [{ container: 'b', resource: 'memory' }] }, { now: undefined, peak: 300 }],
])('what is %s', (_, state, expected) => {
  expect(use(state)).toEqual(expected);
});

/** The pod's containers started an hour ago. */
test.each<[string, CollectionState['measured'], number | undefined]>([
  ['since it started', { pods: ['web-0', 'web-1'], times: [NOON, NOON - HOUR + 1] }, 300],
  ['before it started', { pods: ['web-0', 'web-1'], times: [NOON, NOON - HOUR] }, undefined],
  ['never', { pods: ['web-0'], times: [NOON] }, undefined],
  ['by nobody', undefined, undefined],
])('what others use says nothing of a pod unless it was measured itself: %s', (_, measured, expected) => {
  expect(use({ measured })?.peak).toBe(expected);
});

test('what was never seen is not known', () => {
  expect(use({}, 'sidecar')).toBeUndefined();
});
