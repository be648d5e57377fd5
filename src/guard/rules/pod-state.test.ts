import { describe, expect, test } from 'vitest';
import type { PodRecord, WorkloadRecord } from '../../model/records.ts';
import type { SnapshotRecords } from '../../model/snapshot.ts';
import { aDeployment, aNode, aPod, aStatefulSet, aTemplate, NOON, settledStatus } from '../../model/testing/records.ts';
import { inspectAll } from '../guard.ts';
import { evict, nodes, pod, pods, replicaSet, scene, withPods } from '../testing/scene.ts';

const blocksWith = (changes: Readonly<Record<string, Partial<PodRecord>>>) =>
  inspectAll(evict(), scene({ records: withPods(changes) }));
const reasonsWith = (changes: Readonly<Record<string, Partial<PodRecord>>>) =>
  blocksWith(changes).map(({ reason }) => reason);
const unready = (since: number): Partial<PodRecord> => ({ ready: false, readyChangedAt: since });

describe('pods that are going', () => {
  const going = (deletingAt: number) =>
    inspectAll(evict(), scene({ records: { pods: [...pods, pod('old', 's', { deletingAt })] } }));

  test('hazard H25: one terminating pod blocks the next eviction', () => {
    expect(going(NOON + 5000)).toMatchObject([{ reason: 'PodTerminating', message: 'Pod old is still terminating' }]);
  });

  test('hazard H25: one that hangs on a finalizer blocks for ten minutes, then no longer', () => {
    expect(going(NOON - 599_999)).toMatchObject([{ retryAfterMillis: 1 }]);
    expect(going(NOON - 600_000)).toEqual([]);
  });
});

describe('pods that are not ready', () => {
  test('hazard H23: bug 23: a healthy pod waits while another is starting, and knows how long', () => {
    expect(blocksWith({ o1: unready(NOON - 60_000) })).toMatchObject([
      { reason: 'PodNotReady', message: expect.stringContaining('3 of 4 pods are ready'), retryAfterMillis: 540_000 },
    ]);
  });

  test('a pod that is missing blocks', () => {
    const records = { pods: pods.slice(0, 3).map((each) => ({ ...each })) };
    expect(inspectAll(evict(), scene({ records })).map(({ reason }) => reason)).toContain('PodNotReady');
  });

  test('an unready victim may go: it serves nobody, whatever the others do', () => {
    expect(reasonsWith({ s3: unready(NOON), o1: unready(NOON) })).toEqual([]);
  });

  test('one unready for long counts as unavailable: of four replicas one may be, so no second is added', () => {
    expect(blocksWith({ s1: unready(NOON - 600_000) })).toMatchObject([
      { reason: 'PodNotReady', retryAfterMillis: undefined },
    ]);
  });

  describe('a quarter of the replicas may be unavailable for long, the victim among them', () => {
    const crashing = (replicas: number, since: readonly number[]) => {
      const names = ['s1', 's2', 's4', 's5', 's6', 's7', 's8', 's9', 's10', 's11'].slice(0, replicas - 2);
      const all = [
        pod('s3', 's'),
        pod('o1', 'o'),
        ...names.map((name, index) => {
          const at = since[index];
          return pod(name, 's', at === undefined ? {} : unready(NOON - at));
        }),
      ];
      const records = { workloads: [aDeployment({ replicas })], replicaSets: [{ ...replicaSet, replicas }], pods: all };
      return inspectAll(evict(), scene({ records }));
    };

    test.each<[number, readonly number[], boolean]>([
      [7, [600_000], false],
      [8, [600_000], true],
      [8, [600_000, 600_000], false],
      [11, [600_000], true],
      [12, [600_000, 700_000], true],
    ])('of %i replicas, unready for %j ms: %s', (replicas, since, isAllowed) => {
      expect(crashing(replicas, since)).toMatchObject(
        isAllowed ? [] : [{ reason: 'PodNotReady', retryAfterMillis: undefined }],
      );
    });

    test('so one crash-looping pod does not block for ever; the last to become unready is waited for', () => {
      expect(crashing(8, [599_000])).toMatchObject([{ reason: 'PodNotReady', retryAfterMillis: 1000 }]);
      expect(crashing(12, [700_000, 590_000])).toMatchObject([{ reason: 'PodNotReady', retryAfterMillis: 10_000 }]);
    });
  });

  describe('none on the side that a healthy pod is to move to is ready, however long they had', () => {
    const more = ['s4', 's5', 's6', 's7', 's8'].map((name) => pod(name, 's'));
    const records = (o1: Partial<PodRecord>, others: readonly PodRecord[] = more) => ({
      workloads: [aDeployment({ replicas: 9 })],
      replicaSets: [{ ...replicaSet, replicas: 9 }],
      pods: [
        pod('o1', 'o', { ...unready(NOON - 3_600_000), ...o1 }),
        ...['s1', 's2', 's3'].map((name) => pod(name, 's')),
        ...others,
      ],
    });
    const reasonsOf = (seen: SnapshotRecords, decision = evict()) =>
      inspectAll(decision, scene({ records: seen })).map(({ reason }) => reason);

    test('so it stays: the next would not get well there either', () => {
      expect(inspectAll(evict(), scene({ records: records({}) }))).toMatchObject([
        { rule: 'others-ready', reason: 'PodNotReady', message: expect.stringContaining('8 of 9 pods are ready') },
      ]);
    });

    test.each<[string, Partial<PodRecord>, (readonly PodRecord[])?]>([
      ['one is ready', { ready: true }],
      ['another is ready', {}, [...more.slice(1), pod('o2', 'o')]],
      ['it is of another revision', { owner: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'x', uid: 'x' } }],
      ['it is on the side that the pod is on', { nodeName: 's' }],
    ])('but it may go where %s', (_, o1, others) => {
      const seen = records(o1, others);
      const x = { ...replicaSet, name: 'x', uid: 'x', replicas: 0 };
      expect(reasonsOf({ ...seen, replicaSets: [...seen.replicaSets, x] })).toEqual([]);
    });

    test('but it may go where their nodes say nothing, or it serves nobody itself', () => {
      const silent = [aNode('s', 'spot'), aNode('o', 'on-demand', { ready: false }), aNode('o2', 'on-demand')];
      expect(reasonsOf({ ...records({}), nodes: silent })).toEqual([]);
      const { pods: all, ...rest } = records({});
      const unwell = all.map((each) => (each.name === 's3' ? { ...each, ...unready(NOON) } : each));
      expect(reasonsOf({ ...rest, pods: unwell })).toEqual([]);
    });
  });

  test('an unready victim does not go while another is missing, and is not counted as ready', () => {
    const records = { pods: [pod('s3', 's', unready(NOON)), pod('s1', 's'), pod('o1', 'o')] };
    expect(inspectAll(evict(), scene({ records }))).toMatchObject([
      { reason: 'PodNotReady', message: expect.stringContaining('2 of 4 pods are ready') },
    ]);
  });

  describe('case 46: minReadySeconds: a pod that has just become ready is not relied on yet', () => {
    const blocksAt = (minReadyMillis: number | undefined, readyFor: number, victim: Partial<PodRecord> = {}) => {
      const settled = (each: PodRecord) => ({ ...each, readyChangedAt: NOON - 3_600_000 });
      const all = pods.map((each) => {
        if (each.name === 'o1') return { ...each, readyChangedAt: NOON - readyFor };
        return each.name === 's3' ? { ...settled(each), ...victim } : settled(each);
      });
      const web = aDeployment({ replicas: 4, ...(minReadyMillis !== undefined && { minReadyMillis }) });
      return inspectAll(evict(), scene({ records: { workloads: [web], pods: all } }));
    };

    test('to the millisecond', () => {
      expect(blocksAt(60_000, 59_999)).toMatchObject([
        { reason: 'PodNotReady', message: expect.stringContaining('3 of 4 pods are ready'), retryAfterMillis: 1 },
      ]);
      expect(blocksAt(60_000, 60_000)).toEqual([]);
      expect(blocksAt(undefined, 0)).toEqual([]);
    });

    test('it is waited for beyond the patience with broken pods: it is well, and its owner has said how long', () => {
      expect(blocksAt(3_600_000, 3_000_000)).toMatchObject([{ retryAfterMillis: 600_000 }]);
    });

    test('one of which it is not known when it became ready counts from its creation', () => {
      const created = (createdAt: number) => pods.map((each) => ({ ...each, createdAt, readyChangedAt: undefined }));
      const web = aDeployment({ replicas: 4, minReadyMillis: 60_000 });
      const at = (createdAt: number) =>
        inspectAll(evict(), scene({ records: { workloads: [web], pods: created(createdAt) } }));
      expect(at(NOON - 30_000)).toMatchObject([{ reason: 'PodNotReady', retryAfterMillis: 30_000 }]);
      expect(at(NOON - 60_000)).toEqual([]);
    });

    test('a victim that serves nobody may go meanwhile', () => {
      expect(blocksAt(60_000, 0, { ready: false })).toEqual([]);
    });
  });

  test('failed pods are not waited for', () => {
    const records = { pods: [...pods, pod('dead', 's', { phase: 'Failed', ready: false })] };
    expect(inspectAll(evict(), scene({ records }))).toEqual([]);
  });
});

describe('the chosen pod', () => {
  test('hazard H24: bug 24: the only replica is moved only where that is allowed', () => {
    const single: WorkloadRecord = aDeployment({ replicas: 1 });
    const records = { workloads: [single], pods: [pod('s3', 's')] };
    const decision = evict({ onDemandFloor: 0 });
    expect(inspectAll(decision, scene({ records })).map(({ reason }) => reason)).toEqual(['SingleReplica']);
    expect(inspectAll(decision, scene({ records, settings: { allowSingleReplica: true } }))).toEqual([]);
  });

  test('hazard H33: annotations that forbid disruption are obeyed and named', () => {
    expect(blocksWith({ s3: { protectedBy: 'karpenter.sh/do-not-disrupt' } })).toMatchObject([
      { reason: 'Protected', message: 'Pod s3 is protected by karpenter.sh/do-not-disrupt' },
    ]);
  });

  test('a pod being resized is left to who resizes it', () => {
    expect(reasonsWith({ s3: { resizing: true } })).toEqual(['ResizeInFlight']);
    expect(reasonsWith({ s2: { resizing: true } })).toEqual([]);
  });

  test('hazard H10: an outdated pod of an OnDelete StatefulSet is not rolled over by a move', () => {
    const rollout = { type: 'StatefulSet', start: 0, partition: 0, onDelete: true, orderedReady: true } as const;
    const status = { ...settledStatus(2), updated: 1, currentRevision: 'a', updateRevision: 'b' };
    const set = aStatefulSet({ replicas: 2, rollout, status });
    const member = (ordinal: number, hash: string) =>
      aPod({ ...set, kind: 'StatefulSet' }, `db-${ordinal}`, {
        uid: `db-${ordinal}`,
        nodeName: 's',
        template: aTemplate({ labels: { 'controller-revision-hash': hash } }),
      });
    const records = { nodes, workloads: [set], replicaSets: [], pods: [member(0, 'a'), member(1, 'b')] };
    const moving = (name: string) =>
      inspectAll(evict({ workloadUid: set.uid, pod: { namespace: 'shop', name, uid: name } }), scene({ records }));
    expect(moving('db-0')).toMatchObject([{ rule: 'same-revision', reason: 'RolloutInProgress' }]);
    expect(moving('db-1')).toEqual([]);
  });
});
