import { expect, test } from 'vitest';
import { sizingKeys } from '../../api/annotations-sizing.ts';
import type { SizedAdvice } from '../../decide/rightsizing/recommend-workload.ts';
import type { ResizeDecision } from '../../decide/size-decision.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { applyChanges, type SizeChange } from '../../model/pod-size.ts';
import { type ReplicaState, readReplicaSizes, sizesOf, writeReplicaSizes } from '../../model/replica-sizes.ts';
import type { ContainerStatusRecord } from '../../model/sizing-records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { validPolicy } from '../../model/testing/policies.ts';
import { aDeployment, aReplicaSet, NOON } from '../../model/testing/records.ts';
import { aContainer, aContainerStatus, aSizedPod, aSizedWorkload, MIB } from '../../model/testing/sizing-records.ts';
import { createReplicaSizing } from '../testing/replica-sizing.ts';
import type { ApplyContext } from './apply.ts';
import { createRightsizingMemory } from './memory.ts';

const all = [aContainer({ size: { cpuRequest: 200, memoryRequest: 128 * MIB } })];
const floor = { container: 'app', resource: 'memory' as const, atLeast: 128 * MIB, until: NOON + 86_400_000 };
/** What did harm was taken back on the workload; its pod is yet to have it. */
const harmed: ReplicaState = {
  sizes: sizesOf(all),
  changedAt: NOON - 60_000,
  before: undefined,
  lessons: { floors: [floor], reverts: 1 },
};

interface Look {
  readonly has?: readonly SizeChange[];
  readonly isRollingOut?: boolean;
  readonly state?: ReplicaState;
  readonly advice?: readonly SizedAdvice[];
  readonly status?: Partial<ContainerStatusRecord>;
  /** Why nothing may be resized. */
  readonly reason?: string;
}

/** One look at a replica whose node lacked room a moment ago. */
async function look({ has = [], isRollingOut = false, state = harmed, advice = [], reason, status = {} }: Look) {
  const asked: ResizeDecision[] = [];
  const written: unknown[] = [];
  const states = new Map([['3', state]]);
  const annotations = { 'optipod.io/replica-sizes': writeReplicaSizes(all, states) ?? '' };
  const marks = { [sizingKeys.originalResources]: '{}' };
  const containers = applyChanges(all, has);
  const sizing = { containers, marks, statuses: containers.map((each) => aContainerStatus(each, status)) };
  const record = aSizedPod(aReplicaSet(aDeployment()), 'db-3', sizing, { uid: 'db-3' });
  const pod: SizedPod = { pod: record, sizing: record.sizing };
  const workload = aSizedWorkload({ kind: 'StatefulSet', name: 'db', containers: all, annotations, isRollingOut });
  const replica = { replica: '3', pod, state, inForce: all, isKnown: true, advice };
  const sizeReplicas = createReplicaSizing({
    clock: createVirtualClock(NOON),
    lacksRoom: true,
    async resize(decision) {
      if (reason !== undefined) return { kind: 'blocked', block: { reason, message: reason } };
      asked.push(decision);
      return { kind: 'asked', tookFrom: [] };
    },
  });
  const memory = createRightsizingMemory().of('uid-db');
  await sizeReplicas({
    advised: {
      workload,
      pods: [pod],
      at: NOON,
      inForce: all,
      replicas: { obstacle: undefined, states, replicas: [replica] },
    },
    policy: validPolicy({ spec: { updateStrategy: { allowRecreate: true, evictToResize: true } } }),
    memory,
    live: [pod],
    annotate: async (wanted: unknown) => void written.push(wanted),
    signal: new AbortController().signal,
  } as unknown as ApplyContext);
  const told = asked.map(({ changes, isRestore }) => [changes, isRestore === true]);
  return { asked: told, written, times: memory.times.ofReplica('3', undefined) };
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
  expect((await look({ has, isRollingOut })).asked).toEqual(expected);
});

test('a decrease that another leader began, whose clock was far ahead, is watched on', async () => {
  const lessons = { floors: [], reverts: 0 };
  const state: ReplicaState = {
    sizes: sizesOf(applyChanges(all, less)),
    changedAt: undefined,
    before: sizesOf(all),
    lessons,
  };
  expect(await look({ state, has: less })).toMatchObject({ asked: [], written: [] });
});

const more = [
  {
    container: 'app',
    current: all[0]?.size ?? {},
    cpu: { isDue: true, request: 400, notes: [] },
    memory: { isDue: false, notes: [] },
  },
] as unknown as readonly SizedAdvice[];

test.each([
  ['NodeHasNoRoom', 1],
  ['ChangeBackoff', 1],
  ['QuotaRefuses', 0],
  ['OutsideUpdateWindow', 0],
  ['NotLeader', 0],
])('a new pod is made larger only where room is all that its predecessor lacked: %s', async (reason, writes) => {
  const state: ReplicaState = { ...harmed, lessons: { floors: [], reverts: 0 } };
  expect((await look({ state, advice: more, reason })).written).toHaveLength(writes);
});

const moreOfBoth = [
  { ...more[0], memory: { isDue: true, request: 256 * MIB, notes: [] } },
] as unknown as readonly SizedAdvice[];
const lastTermination = { reason: 'OOMKilled', exitCode: 137, finishedAt: NOON - 5_000 };

test.each<[string, Partial<ContainerStatusRecord>, unknown]>([
  ['what is well waits', {}, []],
  [
    'what was killed for want of memory is given more of it',
    { lastTermination },
    [[[{ container: 'app', to: { memoryRequest: 256 * MIB } }], false]],
  ],
])('during a rollout: %s', async (_, status, expected) => {
  const state: ReplicaState = { ...harmed, lessons: { floors: [], reverts: 0 } };
  const { asked, written } = await look({ state, advice: moreOfBoth, isRollingOut: true, status });
  expect(asked).toEqual(expected);
  expect(written).toHaveLength(asked.length);
});

const moreMemory: SizeChange = { container: 'app', to: { memoryRequest: 256 * MIB } };
const moreCpu: SizeChange = { container: 'app', to: { cpuRequest: 400 } };

test.each<[string, Partial<ContainerStatusRecord>, readonly SizedAdvice[], boolean, readonly SizeChange[]]>([
  ['in a rollout, of what it was killed for', { lastTermination }, moreOfBoth, true, [moreMemory]],
  ['in a rollout, of nothing else', { lastTermination }, more, true, []],
  ['without one, of all that is due', {}, more, false, [moreCpu]],
])('a replica of which nothing runs is asked nothing; the pod to come has more, %s', async (...given) => {
  const [, status, advice, isRollingOut, expected] = given;
  const state: ReplicaState = { ...harmed, lessons: { floors: [], reverts: 0 } };
  const { asked, written } = await look({ state, advice, isRollingOut, status: { ...status, running: false } });
  expect(asked).toEqual([]);
  const [annotations] = written as readonly Readonly<Record<string, string>>[];
  const sizes = annotations && readReplicaSizes(annotations['optipod.io/replica-sizes'], all).get('3')?.sizes;
  expect(sizes).toEqual(expected.length === 0 ? undefined : sizesOf(applyChanges(all, expected)));
});

test('a change of one resource of a replica is none of the other', async () => {
  const cpu = { isDue: true, request: 400, notes: [] };
  const advice = [{ container: 'app', current: {}, cpu, memory: { isDue: false, notes: [] } }];
  const { asked, times } = await look({ advice: advice as unknown as readonly SizedAdvice[] });
  expect(asked).toEqual([[[{ container: 'app', to: { cpuRequest: 400 } }], false]]);
  const at = (resource: 'cpu' | 'memory') => times.lastChange({ container: 'app', resource });
  expect([at('cpu'), at('memory')]).toEqual([NOON, harmed.changedAt]);
});
