import { describe, expect, test } from 'vitest';
import { nodeClassProfile } from '../../model/node-profiles.ts';
import type { NodeRecord, PodRecord, Side } from '../../model/records.ts';
import { aDeployment, aNode, aReplicaSet, aVolumeClaim, NOON } from '../../model/testing/records.ts';
import type { GuardContext } from '../context.ts';
import { inspectAll } from '../guard.ts';
import { evict, nodes, pod, replicaSet, scene } from '../testing/scene.ts';

/** Seven run on spot, of which one is to go to on-demand; an autoscaler promises nodes of both sides. */
const workload = aDeployment({ replicas: 8 });
const others = ['s1', 's2', 's4', 's5', 's6', 's7'].map((name) => pod(name, 's'));
const another = { ...aReplicaSet(workload), name: 'web-other', uid: 'another', replicas: 0 };
const waits = {
  nodeName: undefined,
  phase: 'Pending',
  ready: false,
  readyChangedAt: undefined,
  createdAt: NOON - 3_600_000,
  unschedulableSince: NOON - 3_600_000,
} as const;
const inVain = 'No on-demand node has room for pod s3: o1, which is like it, waits for one already';

/** A pod of another workload that was moved. */
function stranded(namespace: string, sinceMillis = 120_000, side: Side = 'on-demand') {
  return { workload: { kind: 'Deployment', namespace, name: 'other' }, side, since: NOON - sinceMillis } as const;
}

interface Case {
  /** Of the eighth pod, which has found no node of on-demand. */
  readonly o1?: Partial<PodRecord>;
  readonly s3?: Partial<PodRecord>;
  readonly known?: readonly NodeRecord[];
  readonly moved?: GuardContext['stranded'];
}

function messages({ o1, s3, known = nodes, moved }: Case = {}): string[] {
  const waiting = pod('o1', '', { ...waits, capacity: 'on-demand', ...o1 });
  const records = {
    workloads: [workload],
    replicaSets: [replicaSet, another],
    pods: [...others, pod('s3', 's', s3), waiting],
    nodes: known,
    volumeClaims: [aVolumeClaim('data')],
  };
  const settings = { nodeClasses: nodeClassProfile(['karpenter']) };
  return inspectAll(evict({ onDemandFloor: 0 }), scene({ records, settings, stranded: moved })).map(
    ({ message }) => message,
  );
}

describe('a side for which one like the pod waits in vain', () => {
  test('is none: pods that serve would come to wait beside it, one after the other', () => {
    expect(messages()).toEqual([inVain]);
    expect(messages({ known: [aNode('s', 'spot')] })).toEqual([inVain]);
  });

  test.each<[string, Partial<PodRecord>]>([
    ['it has its node', { nodeName: 'o' }],
    ['it waits for the other side', { capacity: 'spot' }],
    ['the scheduler has not looked at it', { unschedulableSince: undefined }],
    ['it is going', { deletingAt: NOON - 3_600_000 }],
    [
      'it is of another revision, which may ask for more',
      { owner: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: another.name, uid: another.uid } },
    ],
  ])('is not known where %s', (_, o1) => {
    expect(messages({ o1 })).not.toContain(inVain);
  });

  test('may be out of reach for its volumes alone: a node that is proved for the other’s counts, a promise does not', () => {
    const claims = { o1: { claims: ['data'] }, s3: { claims: ['data'] } };
    expect(messages(claims)).toEqual([]);
    expect(messages({ ...claims, known: [aNode('s', 'spot')] })).toEqual([inVain]);
  });

  test('keeps none from trying as well that serves nobody where it is', () => {
    expect(messages({ s3: { ...waits, capacity: 'spot' } })).toEqual([]);
  });
});

describe('nodes of on-demand that an autoscaler promises', () => {
  const runs = {
    nodeName: 's',
    ready: true,
    phase: 'Running',
    unschedulableSince: undefined,
    capacity: 'spot',
  } as const;
  const known = [aNode('s', 'spot')];
  const told = (count: number) => [
    `No on-demand node has room for pod s3: an autoscaler makes such nodes, but has made none for moved pods that wait for one: ${count}`,
  ];

  test.each<[string, NonNullable<Case['moved']>, number]>([
    ['nobody waits', [], 0],
    ['one of the namespace waits for two minutes', [stranded('shop')], 1],
    ['it waits for less, as nodes take their time', [stranded('shop', 119_999)], 0],
    ['it waits for spot', [stranded('shop', 120_000, 'spot')], 0],
    ['one of another namespace waits, who may be at fault itself', [stranded('a'), stranded('a')], 0],
    ['those of two namespaces wait', [stranded('a'), stranded('b'), stranded('b')], 3],
  ])('where %s', (_, moved, count) => {
    expect(messages({ o1: runs, known, moved })).toEqual(count === 0 ? [] : told(count));
  });

  test('are not needed where a node that is there has room', () => {
    expect(messages({ o1: runs, moved: [stranded('shop')] })).toEqual([]);
  });

  test('may be waited for by one that serves nobody where it is', () => {
    const s3 = { ...waits, capacity: 'spot' } as const;
    expect(messages({ o1: runs, s3, known, moved: [stranded('shop')] })).toEqual([]);
  });
});
