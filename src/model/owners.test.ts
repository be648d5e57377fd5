import { describe, expect, test } from 'vitest';
import {
  firstOrdinal,
  groupOf,
  hasEnded,
  isLive,
  isRunning,
  ordinalOf,
  podsOf,
  resolveOwner,
  revisionsOf,
} from './owners.ts';
import type { OwnerReference } from './records.ts';
import { rolloutState } from './rollout.ts';
import { createSnapshot } from './snapshot.ts';
import { aDeployment, aPod, aReplicaSet, aStatefulSet, NOON } from './testing/records.ts';

const web = aDeployment();
const rev1 = aReplicaSet(web);
const rev2 = aReplicaSet(web, { revision: 'rev2' });
const db = aStatefulSet();
const stranger = aDeployment({ name: 'stranger', uid: 'uid-stranger' });
const strangersSet = aReplicaSet(stranger);
const lone = { ...aReplicaSet(web, { revision: 'lone' }), owner: undefined };
const view = createSnapshot({
  workloads: [web, db, stranger],
  replicaSets: [rev1, rev2, strangersSet, lone],
  pods: [aPod(rev1, 'web-1'), aPod(rev2, 'web-2', { phase: 'Failed' }), aPod(strangersSet, 'web-3'), aPod(db, 'db-0')],
});
const ownedBy = (changes: Partial<OwnerReference>): OwnerReference => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  name: rev1.name,
  uid: rev1.uid,
  ...changes,
});

describe('resolveOwner', () => {
  test('finds a Deployment through its ReplicaSet', () => {
    const found = resolveOwner(view, 'shop', ownedBy({}));
    expect(found).toEqual({ kind: 'workload', workload: web, replicaSet: rev1, revision: 'rev1' });
  });

  test('finds a StatefulSet directly; its slots know no revision', () => {
    const found = resolveOwner(view, 'shop', ownedBy({ kind: 'StatefulSet', name: 'db', uid: 'uid-db' }));
    expect(found).toEqual({ kind: 'workload', workload: db, replicaSet: undefined, revision: '' });
  });

  test('finds any other owner of ReplicaSets', () => {
    const rollout = aDeployment({ kind: 'Rollout', apiVersion: 'argoproj.io/v1alpha1', uid: 'uid-rollout' });
    const replicaSet = aReplicaSet(rollout);
    const argo = createSnapshot({ workloads: [rollout], replicaSets: [replicaSet] });
    expect(resolveOwner(argo, 'shop', ownedBy({ uid: replicaSet.uid }))).toMatchObject({
      kind: 'workload',
      workload: rollout,
    });
  });

  test.each([
    ['no owner', undefined],
    ['a DaemonSet', ownedBy({ kind: 'DaemonSet' })],
    ['a Job', ownedBy({ kind: 'Job', apiVersion: 'batch/v1' })],
    ['a ReplicaSet of a foreign group', ownedBy({ apiVersion: 'example.com/v1' })],
    [
      'a StatefulSet of a foreign group',
      ownedBy({ apiVersion: 'apps.kruise.io/v1', kind: 'StatefulSet', uid: 'uid-db' }),
    ],
    ['a ReplicaSet that nobody owns and that says nothing of itself', ownedBy({ uid: lone.uid })],
  ])('case 45: hazard H21: bug 22: %s is not managed', (_, owner) => {
    expect(resolveOwner(view, 'shop', owner)).toEqual({ kind: 'unmanaged' });
  });

  test('a ReplicaSet that nobody owns is a workload of one revision, with its own pods', () => {
    const workload = aDeployment({ kind: 'ReplicaSet', uid: 'uid-bare', name: 'bare' });
    const bare = { ...lone, uid: workload.uid, name: 'bare', workload };
    const own = aPod(bare, 'bare-1');
    const snapshot = createSnapshot({ replicaSets: [bare], pods: [own] });
    expect(resolveOwner(snapshot, 'shop', own.owner)).toEqual({
      kind: 'workload',
      workload,
      replicaSet: bare,
      revision: bare.revision,
    });
    expect(snapshot.workloadByUid(bare.uid)).toBe(workload);
    expect(podsOf(snapshot, workload)).toEqual([own]);
    expect(podsOf(createSnapshot({ pods: [own] }), workload)).toEqual([]);
  });

  test('an owner of a kind that is followed can be read live, one of another kind cannot', () => {
    const rollout = aDeployment({ kind: 'Rollout', apiVersion: 'argoproj.io/v1alpha1', uid: 'uid-rollout' });
    const replicaSet = aReplicaSet(rollout);
    const snapshot = createSnapshot({ replicaSets: [replicaSet] });
    const owner = ownedBy({ uid: replicaSet.uid });
    expect(resolveOwner(snapshot, 'shop', owner)).toEqual({ kind: 'unmanaged' });
    const following = { ...snapshot, isOwnerKind: ({ kind }: OwnerReference) => kind === 'Rollout' };
    expect(resolveOwner(following, 'shop', owner)).toMatchObject({ kind: 'not-cached', owner: { kind: 'Rollout' } });
  });

  test.each([
    ['a Deployment of another group', 'Deployment', 'example.com/v1'],
    ['another kind of the group of Deployments', 'DaemonSet', 'apps/v1'],
  ])('%s is not read for one of ours', (_, kind, apiVersion) => {
    const replicaSet = aReplicaSet(aDeployment({ kind, apiVersion, uid: 'uid-foreign' }));
    const snapshot = createSnapshot({ replicaSets: [replicaSet] });
    expect(resolveOwner(snapshot, 'shop', ownedBy({ uid: replicaSet.uid }))).toEqual({ kind: 'unmanaged' });
  });

  test('case 30: a ReplicaSet the view does not have yet can be read live', () => {
    const owner = ownedBy({ uid: 'new' });
    expect(resolveOwner(view, 'shop', owner)).toEqual({ kind: 'not-cached', owner });
  });

  test('case 30: so can the Deployment above it, and a StatefulSet', () => {
    const early = createSnapshot({ replicaSets: [rev1] });
    expect(resolveOwner(early, 'shop', ownedBy({}))).toMatchObject({
      kind: 'not-cached',
      owner: { kind: 'Deployment', uid: 'uid-web' },
    });
    const owner = ownedBy({ kind: 'StatefulSet', uid: 'uid-db' });
    expect(resolveOwner(early, 'shop', owner)).toEqual({ kind: 'not-cached', owner });
  });

  test('an owner of ReplicaSets of an unknown kind that is not watched is unmanaged, not missing', () => {
    const rollout = aDeployment({ kind: 'Rollout', apiVersion: 'argoproj.io/v1alpha1', uid: 'uid-rollout' });
    const unwatched = createSnapshot({ replicaSets: [aReplicaSet(rollout)] });
    expect(resolveOwner(unwatched, 'shop', ownedBy({ uid: aReplicaSet(rollout).uid }))).toEqual({ kind: 'unmanaged' });
  });

  test('hazard H30: goes by uid, not by name: a recreated owner of the same name is another one', () => {
    expect(resolveOwner(view, 'shop', ownedBy({ uid: 'older-uid' })).kind).toBe('not-cached');
  });
});

describe('an owner reference to another namespace is forged: anybody may write any uid there', () => {
  const elsewhere = { namespace: 'tenant', kind: 'StatefulSet', name: db.name, uid: db.uid };
  const forgedSet = { ...aReplicaSet(web, { revision: 'forged' }), namespace: 'tenant', uid: 'uid-forged' };
  const forged = createSnapshot({
    workloads: [web, db],
    replicaSets: [rev1, forgedSet],
    pods: [
      aPod(rev1, 'web-1'),
      aPod({ ...rev1, namespace: 'tenant' }, 'web-1'),
      aPod(forgedSet, 'forged-1'),
      aPod(elsewhere, 'db-0'),
    ],
  });

  test.each([
    ['to a ReplicaSet', ownedBy({})],
    ['to a StatefulSet', ownedBy({ kind: 'StatefulSet', name: 'db', uid: db.uid })],
    ['through a ReplicaSet of its own', ownedBy({ name: forgedSet.name, uid: forgedSet.uid })],
  ])('%s: the pod is nobody’s', (_, owner) => {
    expect(resolveOwner(forged, 'tenant', owner)).toEqual({ kind: 'unmanaged' });
  });

  test('a pod is not of a ReplicaSet elsewhere whose owner is of its own namespace', () => {
    expect(resolveOwner(forged, 'shop', ownedBy({ uid: forgedSet.uid }))).toEqual({ kind: 'unmanaged' });
  });

  test('neither its pods nor its ReplicaSets count for the workload', () => {
    const names = (workload: typeof web) =>
      podsOf(forged, workload).map(({ namespace, name }) => `${namespace}/${name}`);
    expect(names(web)).toEqual(['shop/web-1']);
    expect(names(db)).toEqual([]);
    expect(revisionsOf(forged, web).map(({ revision }) => revision)).toEqual(['rev1']);
    expect(
      rolloutState(forged, { ...web, replicas: 1, status: { ...web.status, replicas: 1, updated: 1 } }, []),
    ).toMatchObject({
      inProgress: false,
    });
  });
});

describe('revisionsOf and podsOf', () => {
  test('case 55: only pods of the uid chain, whatever their names and labels', () => {
    expect(podsOf(view, web).map(({ name }) => name)).toEqual(['web-1', 'web-2']);
    expect(podsOf(view, stranger).map(({ name }) => name)).toEqual(['web-3']);
  });

  test('case 51: a workload without a selector has the pods it owns all the same', () => {
    expect(podsOf(view, { ...web, selector: undefined }).map(({ name }) => name)).toEqual(['web-1', 'web-2']);
  });

  test('splits a Deployment by ReplicaSet and keeps a StatefulSet whole', () => {
    expect(revisionsOf(view, web).map(({ revision, pods }) => [revision, pods.length])).toEqual([
      ['rev1', 1],
      ['rev2', 1],
    ]);
    expect(revisionsOf(view, db)).toEqual([{ revision: '', replicaSet: undefined, pods: view.podsOwnedBy('uid-db') }]);
  });
});

describe('a pod', () => {
  test.each([
    ['Running', undefined, { ended: false, live: true, running: true }],
    ['Pending', undefined, { ended: false, live: true, running: false }],
    ['Unknown', undefined, { ended: false, live: true, running: false }],
    ['Running', NOON, { ended: false, live: false, running: false }],
    ['Failed', undefined, { ended: true, live: false, running: false }],
    ['Succeeded', undefined, { ended: true, live: false, running: false }],
    ['Succeeded', NOON, { ended: true, live: false, running: false }],
  ] as const)('case 59: that is %s, leaving since %s', (phase, deletingAt, expected) => {
    const pod = aPod(rev1, 'x', { phase, deletingAt });
    expect({ ended: hasEnded(pod), live: isLive(pod), running: isRunning(pod) }).toEqual(expected);
  });
});

describe('ordinalOf', () => {
  test.each([
    ['web-0', 'web', 0],
    ['web-99999', 'web', 99999],
    ['my-app-sts-3', 'my-app-sts', 3],
    ['other-pod-0', 'web', undefined],
    ['web-notanumber', 'web', undefined],
    ['web', 'web', undefined],
    ['', 'web', undefined],
    ['web-01', 'web', undefined],
    ['web--1', 'web', undefined],
    ['web-1-2', 'web', undefined],
  ])('case 61: %j of %j is %j', (pod, set, expected) => {
    expect(ordinalOf(pod, set)).toBe(expected);
  });
});

test('firstOrdinal is spec.ordinals.start, and 0 elsewhere', () => {
  const rollout = { type: 'StatefulSet', start: 7, partition: 0, onDelete: false, orderedReady: true } as const;
  expect(firstOrdinal({ ...db, rollout })).toBe(7);
  expect(firstOrdinal(web)).toBe(0);
});

test('groupOf takes the group of an apiVersion', () => {
  expect([groupOf('apps/v1'), groupOf('v1')]).toEqual(['apps', '']);
});
