import { describe, expect, test } from 'vitest';
import { createSnapshot, usageOf } from './snapshot.ts';
import {
  aDeployment,
  aNamespace,
  aNode,
  aPdb,
  aPod,
  aReplicaSet,
  aStatefulSet,
  aTemplate,
  aVolumeClaim,
  GIB,
} from './testing/records.ts';

const web = aDeployment();
const replicaSet = aReplicaSet(web);
const db = aStatefulSet();

describe('createSnapshot', () => {
  const pods = [
    aPod(replicaSet, 'web-a', { nodeName: 'n1' }),
    aPod(replicaSet, 'web-b', { nodeName: 'n2' }),
    aPod(db, 'db-0', { nodeName: 'n1' }),
  ];
  const view = createSnapshot({
    namespaces: [aNamespace()],
    nodes: [aNode('n1', 'spot'), aNode('n2', 'on-demand')],
    workloads: [web, db],
    replicaSets: [replicaSet],
    pods,
    pdbs: [aPdb(), aPdb({ name: 'other', namespace: 'elsewhere' })],
    volumeClaims: [aVolumeClaim('data-db-0')],
  });

  test('finds everything by the keys of the view', () => {
    expect(view.namespace('shop')).toEqual(aNamespace());
    expect([...view.nodes()].map(({ name }) => name)).toEqual(['n1', 'n2']);
    expect(view.node('n2')?.labels).toEqual({ 'karpenter.sh/capacity-type': 'on-demand' });
    expect([...view.workloads()]).toEqual([web, db]);
    expect(view.workload({ kind: 'StatefulSet', namespace: 'shop', name: 'db' })).toBe(db);
    expect(view.workloadByUid('uid-web')).toBe(web);
    expect(view.replicaSet(replicaSet.uid)).toBe(replicaSet);
    expect(view.replicaSetsOf('uid-web')).toEqual([replicaSet]);
    expect(view.podsOwnedBy(replicaSet.uid).map(({ name }) => name)).toEqual(['web-a', 'web-b']);
    expect(view.podsOwnedBy('uid-db').map(({ name }) => name)).toEqual(['db-0']);
    expect(view.pod('shop', 'web-b')).toBe(pods[1]);
    expect(view.podsOnNode('n1').map(({ name }) => name)).toEqual(['web-a', 'db-0']);
    expect(view.pdbs('shop').map(({ name }) => name)).toEqual(['web-pdb']);
    expect(view.volumeClaim('shop', 'data-db-0')?.bound).toBe(true);
  });

  test('answers empty for what is not there', () => {
    expect(view.namespace('none')).toBeUndefined();
    expect(view.node('none')).toBeUndefined();
    expect(view.workload({ kind: 'Deployment', namespace: 'shop', name: 'db' })).toBeUndefined();
    expect(view.workloadByUid('none')).toBeUndefined();
    expect(view.replicaSetsOf('none')).toEqual([]);
    expect(view.podsOwnedBy('none')).toEqual([]);
    expect(view.pod('other', 'web-a')).toBeUndefined();
    expect(view.podsOnNode('none')).toEqual([]);
    expect(view.pdbs('none')).toEqual([]);
    expect(view.volumeClaim('other', 'data-db-0')).toBeUndefined();
    expect(view.requestedOnNode('none')).toEqual({ cpuMillis: 0, memoryBytes: 0, pods: 0 });
  });

  test('of pods of some namespaces the sums of a node are marked as partial, those of an empty one, too', () => {
    const partial = createSnapshot({ nodes: [aNode('n1', 'spot'), aNode('n2', 'spot')], pods, isPartial: true });
    expect(partial.requestedOnNode('n1')).toMatchObject({ pods: 2, isPartial: true });
    expect(partial.requestedOnNode('none')).toMatchObject({ pods: 0, isPartial: true });
  });

  test('is synced and fresh unless said otherwise', () => {
    expect(view.freshness()).toEqual({ synced: true, stale: [] });
    expect(createSnapshot({ freshness: { synced: false, stale: ['pods'] } }).freshness().stale).toEqual(['pods']);
  });

  test('two records of one name: the later one counts, everywhere', () => {
    const moved = aPod(replicaSet, 'web-a', { uid: 'new', nodeName: 'n2' });
    const twice = createSnapshot({ pods: [...pods, moved] });
    expect(twice.pod('shop', 'web-a')?.uid).toBe('new');
    expect(twice.podsOnNode('n1').map(({ name }) => name)).toEqual(['db-0']);
  });

  test('does not follow later changes of the lists it was given', () => {
    const list = [aNode('n1', 'spot')];
    const frozen = createSnapshot({ nodes: list });
    list.push(aNode('n2', 'spot'));
    expect([...frozen.nodes()]).toHaveLength(1);
  });
});

describe('usageOf', () => {
  test('sums the requests of what runs or will run', () => {
    const template = aTemplate({ requests: { cpuMillis: 250, memoryBytes: GIB } });
    const pods = [aPod(replicaSet, 'a', { template }), aPod(replicaSet, 'b', { template, phase: 'Pending' })];
    expect(usageOf(pods)).toEqual({ cpuMillis: 500, memoryBytes: 2 * GIB, pods: 2 });
  });

  test.each(['Succeeded', 'Failed'] as const)('a %s pod has given its share back', (phase) => {
    expect(usageOf([aPod(replicaSet, 'a', { phase })])).toEqual({ cpuMillis: 0, memoryBytes: 0, pods: 0 });
  });

  test('a terminating pod still takes its share', () => {
    expect(usageOf([aPod(replicaSet, 'a', { deletingAt: 1 })]).pods).toBe(1);
  });
});
