/** A restart in place is asked all that an eviction is asked, and a resize that restarts nothing none of it. */
import { describe, expect, test } from 'vitest';
import { aPdb, NOON } from '../../../model/testing/records.ts';
import { aContainer, aContainerStatus, aSizedPod, aSizedWorkload, MIB } from '../../../model/testing/sizing-records.ts';
import type { DisruptionState } from '../disruption-state.ts';
import { inspectSizeAll } from '../inspect-size.ts';
import {
  aDisruptionState,
  hourFrom,
  inFlight,
  memory,
  pods,
  reasonsFor,
  replicaSet,
  resize,
  type SizeSceneChanges,
  sizeScene,
  unread,
  web,
} from '../testing/size-scene.ts';

const containers = [aContainer({ cpuRestart: 'RestartContainer' })];
const restarting = pods.map(({ name, uid }) => aSizedPod(replicaSet, name, { containers }, { uid }));
const one = { workloads: [{ ...web, replicas: 1 }], pods: restarting.slice(0, 1) };
const withThird = (changes: object) => [
  ...restarting.slice(0, 2),
  aSizedPod(replicaSet, 'web-3', { containers }, { uid: 'web-3', ...changes }),
];
const withFirst = (changes: object) => [
  aSizedPod(replicaSet, 'web-1', { containers }, { uid: 'web-1', ...changes }),
  ...restarting.slice(1),
];
const withKilled = (finishedAt: number, ready = true, isRecovered = ready) => {
  const lastTermination = { reason: 'OOMKilled', exitCode: 137, finishedAt };
  const statuses = containers.map((each) => aContainerStatus(each, { lastTermination, ready: isRecovered }));
  return [aSizedPod(replicaSet, 'web-1', { containers, statuses }, { uid: 'web-1', ready }), ...restarting.slice(1)];
};
const oneKilled = (ready: boolean, finishedAt = NOON - 1000, isRecovered = ready) => ({
  workloads: one.workloads,
  pods: withKilled(finishedAt, ready, isRecovered).slice(0, 1),
});
const apiReplicaSet = {
  ...replicaSet,
  name: 'api-rev1',
  uid: 'uid-api-rev1',
  owner: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'api', uid: 'api' },
};
const closed = hourFrom('0 2 * * *');
const storm = { lost: 5, calmAt: NOON + 60_000 };
const flight = { workloadUid: web.uid, since: NOON };

const cases: [string, SizeSceneChanges, readonly string[]][] = [
  ['nothing speaks against it', {}, []],
  ['the owner has not agreed to restarts', { policy: { allowRecreate: false } }, ['ResizeRestarts']],
  ['the pod is protected', { records: { pods: withFirst({ protectedBy: 'x' }) } }, ['Protected']],
  ['it is the only replica', { records: one }, ['SingleReplica']],
  [
    'it is the only replica, and may be disrupted',
    { records: one, disruption: aDisruptionState({ allowSingleReplica: true }) },
    [],
  ],
  ['it is the only replica, does not serve, and was killed for want of memory', { records: oneKilled(false) }, []],
  ['it is the only replica, was killed, and serves again', { records: oneKilled(true) }, ['SingleReplica']],
  [
    'it is the only replica, was killed, and works again beside a container that is not ready',
    { records: oneKilled(false, NOON - 1000, true) },
    ['SingleReplica'],
  ],
  ['it is the only replica, and was killed long ago', { records: oneKilled(false, NOON - 600_000) }, ['SingleReplica']],
  [
    'it is the only replica, and not ready for another reason',
    { records: { ...one, pods: withFirst({ ready: false }).slice(0, 1) } },
    ['SingleReplica'],
  ],
  [
    'another pod is not ready',
    { records: { pods: withThird({ ready: false, readyChangedAt: NOON }) } },
    ['PodNotReady'],
  ],
  [
    'another pod is ready for less than the minReadySeconds of the workload',
    {
      records: {
        workloads: [{ ...web, minReadyMillis: 30_000 }],
        pods: withThird({ readyChangedAt: NOON - 29_999 }),
      },
    },
    ['PodNotReady'],
  ],
  [
    'another pod is ready for just as long',
    {
      records: {
        workloads: [{ ...web, minReadyMillis: 30_000 }],
        pods: withThird({ readyChangedAt: NOON - 30_000 }),
      },
    },
    [],
  ],
  [
    'it is not ready itself, and neither is another',
    { records: { pods: [...withFirst({ ready: false }).slice(0, 2), ...withThird({ ready: false }).slice(2)] } },
    [],
  ],
  ['one of two replicas', { records: { workloads: [{ ...web, replicas: 2 }], pods: restarting.slice(0, 2) } }, []],
  [
    'another pod has failed, and its replacement runs',
    {
      records: {
        pods: [...restarting, aSizedPod(replicaSet, 'old', {}, { uid: 'old', phase: 'Failed', ready: false })],
      },
    },
    [],
  ],
  ['a pod of another workload was evicted', { evictions: [{ ...flight, workloadUid: 'other', podUid: 'p' }] }, []],
  ['a pod of another workload is being resized', { resizes: [inFlight('api-1', { cpuRequest: 300 })] }, []],
  ['a pod is missing', { records: { pods: restarting.slice(0, 2) } }, ['PodNotReady']],
  ['another pod is ending', { records: { pods: withThird({ deletingAt: NOON }) } }, ['PodTerminating']],
  [
    'another pod is ending for long: a finalizer that nobody takes away',
    {
      records: { pods: [...restarting, aSizedPod(replicaSet, 'old', {}, { uid: 'old', deletingAt: NOON - 600_000 })] },
      disruption: aDisruptionState({ stuckMillis: 600_000 }),
    },
    [],
  ],
  ['a rollout of it is under way', { records: { workloads: [{ ...web, isRollingOut: true }] } }, ['TemplateRollout']],
  [
    'a rollout of it was begun a moment ago, and is not seen yet',
    { evictions: [{ ...flight, podUid: web.uid, isRollout: true }] },
    ['TemplateRollout'],
  ],
  [
    'a rollout of another is under way',
    { evictions: [{ ...flight, workloadUid: 'api', podUid: 'api', isRollout: true }] },
    [],
  ],
  [
    'a rollout of it is under way, and what restarts was just killed for want of memory',
    { records: { workloads: [{ ...web, isRollingOut: true }], pods: withKilled(NOON - 60_000) } },
    [],
  ],
  [
    'a rollout of it is under way, and what restarts was killed long ago',
    { records: { workloads: [{ ...web, isRollingOut: true }], pods: withKilled(NOON - 600_000) } },
    ['TemplateRollout'],
  ],
  ['its rollout is paused', { records: { workloads: [{ ...web, keepsPods: 'Paused' }] } }, ['Paused']],
  [
    'its pods are kept until somebody deletes them',
    { records: { workloads: [{ ...web, keepsPods: 'OnDelete' }] } },
    [],
  ],
  ['another pod was evicted', { evictions: [{ ...flight, podUid: 'web-2' }] }, ['EvictionInFlight']],
  ['another pod is being resized', { resizes: [inFlight('web-2', { cpuRequest: 300 })] }, ['ResizeInFlight']],
  ['a budget of the owner', { records: { pdbs: [aPdb({ disruptionsAllowed: 0 })] } }, ['BlockedByPdb']],
  [
    'a budget of the owner, of which the eviction of another workload takes what is left',
    {
      records: {
        workloads: [web, aSizedWorkload({ uid: 'api', name: 'api' })],
        replicaSets: [replicaSet, apiReplicaSet],
        pods: [...restarting, aSizedPod(apiReplicaSet, 'api-1', {}, { uid: 'api-1' })],
        pdbs: [aPdb({ selector: {}, disruptionsAllowed: 1 })],
      },
      evictions: [{ ...flight, workloadUid: 'api', podUid: 'api-1' }],
    },
    ['BlockedByPdb'],
  ],
  ['two budgets', { records: { pdbs: [aPdb(), aPdb({ name: 'other' })] } }, ['MultiplePdbs']],
  ['spot nodes are being lost', { disruption: aDisruptionState({ storm }) }, ['StormCalm']],
  ['the window is closed', { disruption: aDisruptionState({ window: closed }) }, ['OutsideWindow']],
  ['a pod was evicted a moment ago', { disruption: aDisruptionState({ last: NOON - 9_999 }) }, ['CooldownActive']],
  ['no place is left in the cluster', { disruption: aDisruptionState({ inFlight: 2 }) }, ['ConcurrencyLimit']],
];

describe('a resize that restarts a container', () => {
  test.each(cases)('%s', (_, { records, ...changes }, expected) => {
    expect(reasonsFor(resize(), { ...changes, records: { pods: restarting, ...records } })).toEqual(expected);
  });

  test('where nobody says how long to be patient, there is no time to ask again', () => {
    const blocks = (pods: readonly (typeof restarting)[number][]) =>
      inspectSizeAll(resize(), sizeScene({ records: { pods } }));
    const notReady = withThird({ ready: false, readyChangedAt: NOON - 86_400_000 });
    expect(blocks(notReady)).toMatchObject([{ reason: 'PodNotReady', retryAfterMillis: undefined }]);
    const ending = withThird({ deletingAt: NOON - 86_400_000 });
    expect(blocks(ending)).toMatchObject([{ reason: 'PodTerminating', retryAfterMillis: undefined }]);
  });

  test('it is asked again when the others have been ready for long enough', () => {
    const workloads = [{ ...web, minReadyMillis: 30_000 }];
    const records = { workloads, pods: withThird({ readyChangedAt: NOON - 10_000 }) };
    expect(inspectSizeAll(resize(), sizeScene({ records }))).toMatchObject([
      { reason: 'PodNotReady', retryAfterMillis: 20_000 },
    ]);
  });

  test('allocation never restarts anything', () => {
    expect(reasonsFor(resize({ engine: 'allocation' }), { records: { pods: restarting } })).toEqual(['ResizeRestarts']);
  });

  test('one that was never granted restarts nothing when it is withdrawn', () => {
    const changes = {
      records: { ...one, pods: [aSizedPod(replicaSet, 'web-1', { ...unread, containers }, { uid: 'web-1' })] },
      disruption: aDisruptionState({ window: closed, inFlight: 2 }),
      policy: { allowRecreate: false },
    };
    expect(reasonsFor(resize({ isWithdrawal: true }), changes)).toEqual([]);
  });

  test('what did harm is undone at any time, but no faster than the cluster bears', () => {
    const restore = resize({ isRestore: true });
    const at = (changes: Partial<DisruptionState>) =>
      reasonsFor(restore, { records: { pods: restarting }, disruption: aDisruptionState(changes) });
    expect(at({ window: closed, last: NOON, storm })).toEqual([]);
    const amidRollout = { pods: restarting, workloads: [{ ...web, isRollingOut: true, keepsPods: 'Paused' as const }] };
    expect(reasonsFor(restore, { records: amidRollout })).toEqual([]);
    expect(at({ inFlight: 2 })).toEqual(['ConcurrencyLimit']);
  });

  test('the cooldown ends to the millisecond, and tells how long ago the last disruption was', () => {
    const blocks = (now: number) => {
      const disruption = aDisruptionState({ last: NOON - 10_000 });
      return inspectSizeAll(resize(), sizeScene({ records: { pods: restarting }, disruption, now }));
    };
    expect(blocks(NOON - 1)).toMatchObject([{ reason: 'CooldownActive', retryAfterMillis: 1 }]);
    expect(blocks(NOON - 5_000)).toMatchObject([
      { message: 'The last disruption was 5s ago; the next may follow in 5s' },
    ]);
    expect(blocks(NOON)).toEqual([]);
  });

  test('only for the resource whose policy says so', () => {
    const onlyMemory = [aContainer({ memoryRestart: 'RestartContainer' })];
    const records = {
      pods: pods.map(({ name, uid }) => aSizedPod(replicaSet, name, { containers: onlyMemory }, { uid })),
    };
    const policy = { allowRecreate: false };
    expect(reasonsFor(resize(), { records, policy })).toEqual([]);
    expect(reasonsFor(memory(300 * MIB), { records, policy })).toEqual(['ResizeRestarts']);
  });
});

test.each(cases.slice(1))('a resize that restarts nothing goes on: %s', (_, { records, policy, ...changes }) => {
  const gentle = (records?.pods ?? restarting).map((pod) => ({
    ...pod,
    sizing: { ...pod.sizing, containers: [aContainer()] },
  }));
  const own = { ...records, pods: gentle as typeof restarting };
  expect(reasonsFor(resize(), { ...changes, ...(policy && { policy }), records: own })).toEqual([]);
});

test('a pod without a workload is alone, and asks nobody', () => {
  const bare = { workloads: [aSizedWorkload({ uid: 'other', name: 'other' })], pods: restarting };
  const decision = resize({ workload: undefined, workloadUid: undefined });
  expect(reasonsFor(decision, { records: bare })).toEqual([]);
});
