import { describe, expect, test } from 'vitest';
import type { Deployment, Pod, ReplicaSet, StatefulSet } from '../api/core.ts';
import { createLiveView, type ViewChange } from './live-view.ts';
import { createManualStores } from './testing/manual-stores.ts';

function setUp() {
  const stores = createManualStores();
  const view = createLiveView(stores);
  const changes: ViewChange[] = [];
  view.onChange((change) => changes.push(change));
  /** Workload keys told since the last call. */
  const told = (): string[] => {
    const keys = changes.splice(0).flatMap((change) => (change.kind === 'workload' ? [change.key] : []));
    return [...new Set(keys)].sort();
  };
  return { stores, view, changes, told };
}

const deployment = (name: string, uid = `d-${name}`): Deployment =>
  ({
    metadata: { name, namespace: 'shop', uid },
    spec: {
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [] } },
    },
  }) as Deployment;
const statefulSet = (name: string): StatefulSet =>
  ({
    metadata: { name, namespace: 'shop', uid: `s-${name}` },
    spec: { selector: {}, serviceName: '', template: { spec: { containers: [] } } },
  }) as StatefulSet;
const replicaSet = (name: string, of: string): ReplicaSet =>
  ({
    metadata: {
      name,
      namespace: 'shop',
      uid: `rs-${name}`,
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: of, uid: `d-${of}`, controller: true }],
    },
    spec: { selector: {} },
  }) as ReplicaSet;
const pod = (name: string, ownerUid: string, nodeName?: string, phase = 'Running'): Pod => ({
  metadata: {
    name,
    namespace: 'shop',
    uid: `p-${name}`,
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'x', uid: ownerUid, controller: true }],
  },
  spec: { containers: [], ...(nodeName !== undefined && { nodeName }) },
  status: { phase },
});

describe('indexes', () => {
  test('pods are found by owner and by node, through moves and removals', () => {
    const { stores, view } = setUp();
    stores.pods.put(pod('a', 'rs-1'));
    stores.pods.put(pod('b', 'rs-1', 'n1'));
    expect(view.podsOwnedBy('rs-1').map(({ name }) => name)).toEqual(['a', 'b']);
    stores.pods.put(pod('a', 'rs-1', 'n1'));
    expect(
      view
        .podsOnNode('n1')
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['a', 'b']);
    stores.pods.remove(pod('b', 'rs-1', 'n1'));
    expect(view.podsOnNode('n1').map(({ name }) => name)).toEqual(['a']);
    expect(view.pod('shop', 'b')).toBeUndefined();
  });

  test('a Deployment and a StatefulSet of one name are two workloads', () => {
    const { stores, view } = setUp();
    stores.deployments.put(deployment('web'));
    stores.statefulSets.put(statefulSet('web'));
    expect(view.workload({ kind: 'Deployment', namespace: 'shop', name: 'web' })?.uid).toBe('d-web');
    expect(view.workload({ kind: 'StatefulSet', namespace: 'shop', name: 'web' })?.uid).toBe('s-web');
    expect(view.workload({ kind: 'DaemonSet', namespace: 'shop', name: 'web' })).toBeUndefined();
    expect([...view.workloads()]).toHaveLength(2);
    stores.statefulSets.remove(statefulSet('web'));
    expect([...view.workloads()].map(({ kind }) => kind)).toEqual(['Deployment']);
  });

  test('a workload deleted and made again under its name is another one', () => {
    const { stores, view, changes } = setUp();
    stores.deployments.put(deployment('web', 'old'));
    stores.deployments.put(deployment('web', 'new'));
    expect(view.workloadByUid('old')).toBeUndefined();
    expect(view.workloadByUid('new')?.name).toBe('web');
    expect(changes).toContainEqual({ kind: 'workload-deleted', key: 'Deployment/shop/web', uid: 'old' });
  });

  test('ReplicaSets are found by uid and by owner', () => {
    const { stores, view } = setUp();
    stores.replicaSets.put(replicaSet('web-1', 'web'));
    stores.replicaSets.put(replicaSet('web-2', 'web'));
    expect(view.replicaSetsOf('d-web')).toHaveLength(2);
    stores.replicaSets.remove(replicaSet('web-1', 'web'));
    expect(view.replicaSet('rs-web-1')).toBeUndefined();
    expect(view.replicaSetsOf('d-web').map(({ name }) => name)).toEqual(['web-2']);
  });
});

describe('word of changes', () => {
  function withWeb() {
    const world = setUp();
    world.stores.deployments.put(deployment('web'));
    world.stores.deployments.put(deployment('other'));
    world.stores.replicaSets.put(replicaSet('web-1', 'web'));
    world.told();
    return world;
  }

  test('a pod tells its workload through its ReplicaSet', () => {
    const { stores, told } = withWeb();
    stores.pods.put(pod('a', 'rs-web-1'));
    expect(told()).toEqual(['Deployment/shop/web']);
    stores.pods.put(pod('stray', 'rs-unknown'));
    expect(told()).toEqual([]);
  });

  test('a node tells the workloads with pods on it, and that capacity changed', () => {
    const { stores, told, changes } = withWeb();
    stores.pods.put(pod('a', 'rs-web-1', 'n1'));
    told();
    stores.nodes.put({ metadata: { name: 'n1' } });
    expect(changes).toContainEqual({ kind: 'capacity' });
    expect(told()).toEqual(['Deployment/shop/web']);
  });

  test('case 57: a namespace losing or regaining its label tells all its workloads at once', () => {
    const { stores, told } = withWeb();
    const regainedAndLost: readonly Record<string, string>[] = [{ 'spotalis.io/enabled': 'true' }, {}];
    for (const labels of regainedAndLost) {
      stores.namespaces.put({ metadata: { name: 'shop', labels } });
      expect(told()).toEqual(['Deployment/shop/other', 'Deployment/shop/web']);
    }
  });

  test('a budget tells the workloads it selects, before and after a change of its selector', () => {
    const { stores, told } = withWeb();
    const budget = (app: string) => ({
      metadata: { name: 'b', namespace: 'shop', uid: 'b' },
      spec: { selector: { matchLabels: { app } } },
    });
    stores.pdbs.put(budget('web'));
    expect(told()).toEqual(['Deployment/shop/web']);
    stores.pdbs.put(budget('other'));
    expect(told()).toEqual(['Deployment/shop/other', 'Deployment/shop/web']);
  });

  test('a pod that leaves its node frees capacity', () => {
    const { stores, changes } = withWeb();
    stores.pods.put(pod('a', 'rs-web-1', 'n1'));
    changes.splice(0);
    stores.pods.remove(pod('a', 'rs-web-1', 'n1'));
    expect(changes).toContainEqual({ kind: 'capacity' });
  });

  test('a pod that took the place of one of its name while nobody watched is no change of that one', () => {
    const { stores, view, changes } = withWeb();
    const first = pod('db-0', 's-db', 'n1');
    const second = { ...pod('db-0', 's-db', 'n2'), metadata: { ...first.metadata, uid: 'another' } };
    stores.pods.put(first);
    const pods: unknown[] = [];
    view.onPod((before, after) => pods.push([before?.uid, after?.uid]));
    changes.splice(0);
    stores.pods.put(second);
    expect(pods).toEqual([
      ['p-db-0', undefined],
      [undefined, 'another'],
    ]);
    expect(changes).toContainEqual({ kind: 'capacity' });
    expect(['n1', 'n2'].map((node) => view.podsOnNode(node).map(({ uid }) => uid))).toEqual([[], ['another']]);
  });
});

test('freshness names the stores that may not be trusted', () => {
  const { stores, view } = setUp();
  expect(view.freshness()).toEqual({ synced: true, stale: [] });
  stores.pods.setFreshness('stale');
  expect(view.freshness()).toEqual({ synced: true, stale: ['pods'] });
  stores.nodes.setFreshness('initial');
  expect(view.freshness().synced).toBe(false);
});

test('a bound claim takes the zone of its volume, and whoever waits for room hears of both', () => {
  const { stores, view, changes } = setUp();
  stores.claims.put({
    metadata: { name: 'c', namespace: 'shop' },
    spec: { volumeName: 'v' },
    status: { phase: 'Bound' },
  });
  expect(view.volumeClaim('shop', 'c')?.bound).toBe(false);
  expect(changes).toEqual([{ kind: 'capacity' }]);
  stores.volumes.put({ metadata: { name: 'v' }, spec: {} });
  expect(changes).toEqual([{ kind: 'capacity' }, { kind: 'capacity' }]);
  expect(view.volumeClaim('shop', 'c')).toMatchObject({ bound: true, requiredNodeTerms: undefined });
  expect(view.volumeClaim('shop', 'none')).toBeUndefined();
});
