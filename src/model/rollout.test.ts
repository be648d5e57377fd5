import { describe, expect, test } from 'vitest';
import type { PodRecord, WorkloadRecord, WorkloadStatus } from './records.ts';
import { rolloutState, unreadySince, wouldChangeRevision } from './rollout.ts';
import { createSnapshot } from './snapshot.ts';
import { aDeployment, aPod, aReplicaSet, aStatefulSet, aTemplate, NOON, settledStatus } from './testing/records.ts';

function deploymentState(status: Partial<WorkloadStatus>, oldReplicas = 0) {
  const workload = aDeployment({ status: { ...settledStatus(10), ...status } });
  const replicaSets = [aReplicaSet(workload), aReplicaSet(workload, { revision: 'old', replicas: oldReplicas })];
  return rolloutState(createSnapshot({ replicaSets }), workload, []);
}

describe('rolloutState of a Deployment', () => {
  test.each<[string, Partial<WorkloadStatus>, number, boolean]>([
    ['settled', {}, 0, false],
    ['some not updated', { updated: 8 }, 0, true],
    ['old ones still there', { replicas: 12 }, 0, true],
    ['an old ReplicaSet still has replicas, whatever status says', {}, 1, true],
    ['scaled up, pods still to come', { replicas: 5, updated: 5 }, 0, true],
  ])('case 52: case 56: %s', (_, status, oldReplicas, expected) => {
    expect(deploymentState(status, oldReplicas).inProgress).toBe(expected);
  });

  test('a stuck one says since when', () => {
    expect(deploymentState({ updated: 3, stuckSince: NOON })).toEqual({
      inProgress: true,
      updated: 3,
      desired: 10,
      stuckSince: NOON,
    });
  });
});

const aSet = (
  status: Partial<WorkloadStatus>,
  rollout: { start?: number; partition?: number; onDelete?: boolean } = {},
): WorkloadRecord =>
  aStatefulSet({
    status: { ...settledStatus(5), currentRevision: 'a', updateRevision: 'b', ...status },
    rollout: { type: 'StatefulSet', start: 0, partition: 0, onDelete: false, orderedReady: true, ...rollout },
  });
const podOf = (set: WorkloadRecord, changes: Partial<PodRecord>): PodRecord =>
  aPod({ ...set, kind: 'StatefulSet' }, 'db-0', changes);

describe('rolloutState of a StatefulSet', () => {
  const stateOf = (set: WorkloadRecord, pods: readonly PodRecord[] = []) => rolloutState(createSnapshot({}), set, pods);

  test.each<[string, WorkloadRecord, boolean]>([
    ['settled', aSet({ currentRevision: 'b' }), false],
    ['rolling', aSet({ updated: 2 }), true],
    ['at rest at its partition', aSet({ updated: 2 }, { partition: 3 }), false],
    ['not yet at its partition', aSet({ updated: 1 }, { partition: 3 }), true],
    ['a partition above all replicas', aSet({ updated: 0 }, { partition: 9 }), false],
    ['OnDelete, waiting for someone to delete pods', aSet({ updated: 0 }, { onDelete: true }), false],
    ['one revision, whatever the counts say', aSet({ currentRevision: 'b', updated: 0 }), false],
    ['no revision reported yet', aSet({ updated: 0, updateRevision: undefined }), false],
  ])('hazard H10: %s', (_, set, expected) => {
    expect(stateOf(set).inProgress).toBe(expected);
  });

  test('tells how far it is, of the replicas that its partition lets go on', () => {
    expect(stateOf(aSet({ updated: 1 }, { partition: 3 }))).toMatchObject({ updated: 1, desired: 2 });
    expect(stateOf(aSet({ updated: 0 }, { partition: 9 }))).toMatchObject({ updated: 0, desired: 0 });
  });

  test('at rest is not stuck, whatever pods are unready', () => {
    const set = aSet({ currentRevision: 'b' });
    expect(stateOf(set, [podOf(set, { ready: false, readyChangedAt: NOON })]).stuckSince).toBeUndefined();
  });

  test('is stuck since the longest unready pod became so', () => {
    const set = aSet({ updated: 2 });
    const pods = [
      podOf(set, { ready: false, readyChangedAt: NOON }),
      podOf(set, { ready: false, readyChangedAt: NOON - 5 }),
      podOf(set, { ready: false, readyChangedAt: NOON - 9, deletingAt: NOON }),
      podOf(set, { readyChangedAt: NOON - 99 }),
    ];
    expect(stateOf(set, pods).stuckSince).toBe(NOON - 5);
    expect(stateOf(set).stuckSince).toBeUndefined();
  });
});

test('unreadySince falls back to the creation', () => {
  const set = aSet({});
  expect(unreadySince(podOf(set, { readyChangedAt: undefined, createdAt: 7 }))).toBe(7);
  expect(unreadySince(podOf(set, { readyChangedAt: 9, createdAt: 7 }))).toBe(9);
});

describe('wouldChangeRevision', () => {
  const outdated = aTemplate({ labels: { 'controller-revision-hash': 'a' } });
  const updated = aTemplate({ labels: { 'controller-revision-hash': 'b' } });
  const asks = (set: WorkloadRecord, template = outdated, ordinal: number | undefined = 2): boolean =>
    wouldChangeRevision(set, podOf(set, { template }), ordinal);

  test.each<[string, boolean, boolean]>([
    ['an outdated pod under OnDelete', asks(aSet({}, { onDelete: true })), true],
    ['an updated pod under OnDelete', asks(aSet({}, { onDelete: true }), updated), false],
    ['an outdated pod at the partition', asks(aSet({}, { partition: 2 })), true],
    ['an outdated pod below the partition', asks(aSet({}, { partition: 3 })), false],
    ['an updated pod below the partition would go back', asks(aSet({}, { partition: 3 }), updated), true],
    [
      'an outdated pod at the partition, which counts from the first ordinal',
      asks(aSet({}, { start: 1, partition: 1 })),
      true,
    ],
    ['an outdated pod below the partition, likewise', asks(aSet({}, { start: 1, partition: 2 })), false],
    ['no revision known', asks(aSet({ updateRevision: undefined })), false],
    ['a pod without the label', asks(aSet({}, { onDelete: true }), aTemplate()), false],
    [
      'below the partition with nothing but the update revision',
      asks(aSet({ currentRevision: undefined }, { partition: 3 }), updated),
      false,
    ],
  ])('hazard H10: %s: %s', (_, found, expected) => {
    expect(found).toBe(expected);
  });

  test('a ReplicaSet replaces like with like', () => {
    expect(wouldChangeRevision(aDeployment(), podOf(aDeployment(), { template: outdated }), undefined)).toBe(false);
  });
});
