import { expect, test } from 'vitest';
import { sizingKeys } from '../api/annotations-sizing.ts';
import type { ResizeDecision } from '../decide/size-decision.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { applyChanges, type SizeChange } from '../model/pod-size.ts';
import { type ReplicaState, sizesOf, writeReplicaSizes } from '../model/replica-sizes.ts';
import type { SizedPod } from '../model/sizing-view.ts';
import { validPolicy } from '../model/testing/policies.ts';
import { aDeployment, aReplicaSet, NOON } from '../model/testing/records.ts';
import { aContainer, aSizedPod, aSizedWorkload, MIB } from '../model/testing/sizing-records.ts';
import type { ApplyContext } from './rightsizing-apply.ts';
import { createRightsizingMemory } from './rightsizing-memory.ts';
import { createSizeReplicas, type SizeReplicasOptions } from './rightsizing-replicas.ts';

const all = [aContainer({ size: { cpuRequest: 200, memoryRequest: 128 * MIB } })];
const floor = { container: 'app', resource: 'memory' as const, atLeast: 128 * MIB, until: NOON + 86_400_000 };
/** What did harm was taken back on the workload; its pod is yet to have it. */
const harmed: ReplicaState = {
  sizes: sizesOf(all),
  changedAt: NOON - 60_000,
  before: undefined,
  lessons: { floors: [floor], reverts: 1 },
};

async function look(has: readonly SizeChange[], isRollingOut: boolean) {
  const asked: ResizeDecision[] = [];
  const states = new Map([['3', harmed]]);
  const annotations = { 'optipod.io/replica-sizes': writeReplicaSizes(all, states) ?? '' };
  const marks = { [sizingKeys.originalResources]: '{}' };
  const sizing = { containers: applyChanges(all, has), marks };
  const record = aSizedPod(aReplicaSet(aDeployment()), 'db-3', sizing, { uid: 'db-3' });
  const pod: SizedPod = { pod: record, sizing: record.sizing };
  const workload = aSizedWorkload({ kind: 'StatefulSet', name: 'db', containers: all, annotations, isRollingOut });
  const advice = { replica: '3', pod, state: harmed, inForce: all, isKnown: true, advice: [] };
  const sizeReplicas = createSizeReplicas({
    actuator: {
      isResizing: () => false,
      lacksRoom: () => false,
      async resize(decision: ResizeDecision) {
        asked.push(decision);
        return { kind: 'asked', tookFrom: [] };
      },
    },
    changes: { judge: async () => [] },
    settings: () => ({ canaryMillis: 180_000, revertMillis: 1_800_000, restart: {} }),
    sizesNewPods: () => true,
    isAllocated: () => false,
    clock: createVirtualClock(NOON),
  } as unknown as SizeReplicasOptions);
  await sizeReplicas({
    advised: { workload, pods: [pod], inForce: all, replicas: { obstacle: undefined, states, replicas: [advice] } },
    policy: validPolicy({}),
    memory: createRightsizingMemory().of('uid-db'),
    live: [pod],
    annotate: () => Promise.resolve(undefined),
    signal: new AbortController().signal,
  } as unknown as ApplyContext);
  return asked.map(({ changes, isRestore }) => [changes, isRestore === true]);
}

const less = [{ container: 'app', to: { memoryRequest: 64 * MIB } }];
const back = [[[{ container: 'app', to: { memoryRequest: 128 * MIB } }], true]];

test.each<[string, readonly SizeChange[], boolean, unknown]>([
  ['is put back at once', less, false, back],
  ['is put back also while a rollout is stuck, perhaps by it', less, true, back],
  [
    'is put back without what it has not learned',
    [{ container: 'app', to: { cpuRequest: 100, memoryRequest: 64 * MIB } }],
    true,
    back,
  ],
  [
    'and is given more by somebody since, is let be',
    [{ container: 'app', to: { memoryRequest: 256 * MIB } }],
    false,
    [],
  ],
])('a replica whose decrease did harm %s', async (_, has, isRollingOut, expected) => {
  expect(await look(has, isRollingOut)).toEqual(expected);
});
