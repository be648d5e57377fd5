import { describe, expect, test } from 'vitest';
import type { Deployment, KubeObject, Namespace, ReplicaSet } from '../api/core.ts';
import type { KubeApi, ListOptions } from '../api/kube-api.ts';
import { KubeError } from '../api/kube-error.ts';
import { createSilentLogger } from '../lib/log.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import type { OwnerReference } from '../model/records.ts';
import { createLiveView } from '../observe/live-view.ts';
import { createProjections } from '../observe/project.ts';
import { createManualStores } from '../observe/testing/manual-stores.ts';
import { createLiveOwners } from './live-owners.ts';

const deployment: Deployment = {
  metadata: { name: 'web', namespace: 'shop', uid: 'd1' },
  spec: { selector: {}, template: {} },
};
const replicaSet: ReplicaSet = {
  metadata: {
    name: 'web-abc',
    namespace: 'shop',
    uid: 'rs1',
    labels: { 'pod-template-hash': 'abc' },
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'd1', controller: true }],
  },
  spec: { selector: {} },
};
const namespace: Namespace = { metadata: { name: 'shop', uid: 'n1', labels: { 'spotalis.io/enabled': 'true' } } };
const owner: OwnerReference = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-abc', uid: 'rs1' };

/**
 * An API that has `objects`; calls wait for `gate` when given. Of namespaces the operator may list and watch, and no
 * more (charts/stowage/templates/rbac/cluster.yaml). Other calls are not made here.
 */
function fakeApi(objects: readonly KubeObject[], gate?: Promise<void>): { api: KubeApi; reads: string[] } {
  const reads: string[] = [];
  const get = async (type: { kind: string }, name: string) => {
    reads.push(`${type.kind}/${name}`);
    await gate;
    if (type.kind === 'Namespace') throw new KubeError(403, undefined, 'cannot get resource "namespaces"');
    const found = objects.find((object) => object.metadata?.name === name);
    if (found === undefined) throw new KubeError(404, undefined, 'not found');
    return found;
  };
  const list = async (type: { kind: string }, { fieldSelector = '' }: ListOptions) => {
    const [, name = ''] = /^metadata\.name=(.+)$/.exec(fieldSelector) ?? [];
    reads.push(`${type.kind}/${name}`);
    await gate;
    return { items: objects.filter((object) => object === namespace && object.metadata?.name === name) };
  };
  return { api: { get, list } as unknown as KubeApi, reads };
}

function setUp(objects: readonly KubeObject[], gate?: Promise<void>, known: readonly Namespace[] = [namespace]) {
  const clock = createVirtualClock(0);
  const stores = createManualStores();
  for (const each of known) stores.namespaces.put(each);
  const { api, reads } = fakeApi(objects, gate);
  const log = createSilentLogger();
  const projections = createProjections(() => {});
  const owners = createLiveOwners({ view: createLiveView(stores), api, projections, clock, log, budgetMillis: 150 });
  return { clock, stores, reads, owners };
}

describe('case 30: an owner that is not in the cache yet', () => {
  test('is read live, ReplicaSet and Deployment', async () => {
    const { owners, reads } = setUp([deployment, replicaSet]);
    const resolution = await owners.resolve('shop', owner);
    expect(resolution).toMatchObject({ kind: 'workload', workload: { uid: 'd1' }, revision: 'abc' });
    expect(reads).toEqual(['ReplicaSet/web-abc', 'Deployment/web']);
    expect(owners.view.replicaSetsOf('d1').map(({ uid }) => uid)).toEqual(['rs1']);
  });

  test('is read once for all pods that wait, and then known without a read', async () => {
    const { owners, reads } = setUp([deployment, replicaSet]);
    const all = await Promise.all(Array.from({ length: 10 }, async () => owners.resolve('shop', owner)));
    expect(all.every(({ kind }) => kind === 'workload')).toBe(true);
    expect(reads).toHaveLength(2);
    const again = owners.resolve('shop', owner);
    expect(again).toMatchObject({ kind: 'workload' });
  });

  test('the cache comes first once it has the owner: no duplicate, no stale copy', async () => {
    const { owners, stores } = setUp([deployment, replicaSet]);
    await owners.resolve('shop', owner);
    stores.replicaSets.put({ ...replicaSet, spec: { selector: {}, replicas: 7 } });
    expect(owners.view.replicaSetsOf('d1').map(({ replicas }) => replicas)).toEqual([7]);
    expect(owners.view.replicaSet('rs1')?.replicas).toBe(7);
  });

  test('a minute later nothing is made of what was read: it may be gone since, and is read again', async () => {
    const { owners, clock, reads } = setUp([namespace, deployment, replicaSet], undefined, []);
    await owners.resolve('shop', owner);
    const known = () => [owners.view.namespace('shop'), owners.view.replicaSet('rs1'), owners.view.workloadByUid('d1')];
    await clock.advance(59_999);
    expect(known().every((record) => record !== undefined)).toBe(true);
    await clock.advance(1);
    expect(known()).toEqual([undefined, undefined, undefined]);
    expect(owners.view.replicaSetsOf('d1')).toEqual([]);
    const before = reads.length;
    expect(await owners.resolve('shop', owner)).toMatchObject({ kind: 'workload' });
    expect(reads.length).toBe(2 * before);
  });

  test('an API that does not answer costs the budget and no more', async () => {
    const { owners, clock } = setUp([deployment, replicaSet], new Promise(() => {}));
    let answer: unknown;
    const resolving = Promise.resolve(owners.resolve('shop', owner)).then((resolution) => {
      answer = resolution;
    });
    await clock.advance(149);
    expect(answer).toBeUndefined();
    await clock.advance(1);
    await resolving;
    expect(answer).toMatchObject({ kind: 'not-cached' });
    expect(clock.pendingTimers()).toBe(0);
  });

  test('an owner that does not exist, or another one of its name, is not found', async () => {
    expect(await setUp([]).owners.resolve('shop', owner)).toMatchObject({ kind: 'not-cached' });
    const impostor = { ...replicaSet, metadata: { ...replicaSet.metadata, uid: 'other' } };
    expect(await setUp([deployment, impostor]).owners.resolve('shop', owner)).toMatchObject({ kind: 'not-cached' });
  });

  test('owners that nobody knows cost a bounded number of reads', async () => {
    let open = (): void => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const { owners, reads } = setUp([deployment, replicaSet], gate);
    const made = Array.from({ length: 500 }, (_, at) =>
      owners.resolve('shop', { ...owner, name: `made-up-${at}`, uid: `made-up-${at}` }),
    );
    expect(reads).toHaveLength(100);
    open();
    for (const resolution of made) expect(await resolution).toMatchObject({ kind: 'not-cached' });
    expect(await owners.resolve('shop', owner)).toMatchObject({ kind: 'workload' });
  });

  test.each(['..', '../../secrets/x', 'x'.repeat(254), 'A', '', 'a\nb'])(
    'the name %j is no name: nothing is read, nor logged',
    (name) => {
      const { owners, reads } = setUp([]);
      expect(owners.resolve('shop', { ...owner, name })).toEqual({ kind: 'unmanaged' });
      expect(reads).toEqual([]);
    },
  );

  test('an owner of another namespace is nobody’s, cached or read live', async () => {
    const { owners, stores } = setUp([deployment, replicaSet]);
    // Its own ReplicaSet names a Deployment elsewhere.
    stores.replicaSets.put({ ...replicaSet, metadata: { ...replicaSet.metadata, namespace: 'tenant', uid: 'rs2' } });
    expect(await owners.resolve('shop', owner)).toMatchObject({ kind: 'workload' });
    expect(await owners.resolve('tenant', owner)).toEqual({ kind: 'unmanaged' });
    expect(await owners.resolve('tenant', { ...owner, uid: 'rs2' })).toEqual({ kind: 'unmanaged' });
  });

  test('a wrong name beside the uid of an owner keeps nobody from that owner', async () => {
    const { owners } = setUp([deployment, replicaSet]);
    const wrong = owners.resolve('shop', { ...owner, name: 'other' });
    expect(await owners.resolve('shop', owner)).toMatchObject({ kind: 'workload', workload: { uid: 'd1' } });
    await wrong;
  });

  test('pods without a controller are unmanaged without a read', () => {
    const { owners, reads } = setUp([]);
    expect(owners.resolve('shop', undefined)).toEqual({ kind: 'unmanaged' });
    expect(reads).toEqual([]);
  });
});

describe('a namespace that is not in the cache yet', () => {
  const setUpNew = (objects: readonly KubeObject[], gate?: Promise<void>) => setUp(objects, gate, []);

  test('is read live beside the owner: its first pods are steered', async () => {
    const { owners, reads } = setUpNew([namespace, deployment, replicaSet]);
    expect(await owners.resolve('shop', owner)).toMatchObject({ kind: 'workload' });
    expect(reads.toSorted()).toEqual(['Deployment/web', 'Namespace/shop', 'ReplicaSet/web-abc']);
    expect(owners.view.namespace('shop')).toMatchObject({ name: 'shop', enabled: true });
    expect(owners.resolve('shop', owner)).toMatchObject({ kind: 'workload' });
  });

  test('also where the owner is known; the cache comes first once it has it', async () => {
    const { owners, stores, reads } = setUpNew([namespace]);
    stores.deployments.put(deployment);
    stores.replicaSets.put(replicaSet);
    expect(await owners.resolve('shop', owner)).toMatchObject({ kind: 'workload' });
    expect(reads).toEqual(['Namespace/shop']);
    stores.namespaces.put({ metadata: { name: 'shop', uid: 'n1', labels: {} } });
    expect(owners.view.namespace('shop')?.enabled).toBe(false);
  });

  test('one that cannot be read costs the budget at most, and changes nothing about the owner', async () => {
    const { owners, stores, clock } = setUpNew([], new Promise(() => {}));
    stores.deployments.put(deployment);
    stores.replicaSets.put(replicaSet);
    const resolving = owners.resolve('shop', owner);
    await clock.advance(150);
    expect(await resolving).toMatchObject({ kind: 'workload' });
    expect(owners.view.namespace('shop')).toBeUndefined();
    expect(clock.pendingTimers()).toBe(0);
  });

  test('nothing is read for pods that nobody manages, nor before the caches are there', async () => {
    const { owners, stores, reads } = setUpNew([namespace]);
    const job = { apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'j1' };
    expect(owners.resolve('shop', job)).toEqual({ kind: 'unmanaged' });
    stores.deployments.put(deployment);
    stores.replicaSets.put(replicaSet);
    stores.namespaces.setFreshness('initial');
    expect(owners.resolve('shop', owner)).toMatchObject({ kind: 'workload' });
    expect(reads).toEqual([]);
  });
});
