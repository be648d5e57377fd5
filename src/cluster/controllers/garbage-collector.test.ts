import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../api/core.ts';
import { customResourceDefinitions } from '../../api/crd/crd.ts';
import { isNotFound } from '../../api/kube-error.ts';
import { type ResourceType, resources } from '../../api/resources.ts';
import { nameOf, uidOf } from '../objects.ts';
import {
  startVirtualCluster,
  testDeployment,
  testNodes,
  testStatefulSet,
  type VirtualCluster,
} from '../testing/virtual-cluster.ts';

const IN_DEFAULT = { namespace: 'default' };

const OWNED: readonly ResourceType[] = [resources.deployments, resources.replicaSets, resources.pods];

const counts = ({ cluster }: VirtualCluster): number[] =>
  OWNED.map((type) => [...cluster.caches.of(type).all()].length);

async function startWeb(): Promise<VirtualCluster> {
  const at = await startVirtualCluster({ nodes: testNodes(2) });
  await at.cluster.api.create(resources.deployments, testDeployment('web', { replicas: 2 }), IN_DEFAULT);
  await at.seconds(10);
  return at;
}

describe('deleting an owner', () => {
  test('in the background takes its dependents along afterwards', async () => {
    await using at = await startWeb();
    expect(counts(at)).toEqual([1, 1, 2]);
    await at.cluster.api.delete(resources.deployments, 'web', { ...IN_DEFAULT, propagationPolicy: 'Background' });
    await at.seconds(0.01);
    expect(counts(at)).toEqual([0, 0, 2]);
    await at.seconds(10);
    expect(counts(at)).toEqual([0, 0, 0]);
  });

  test('in the foreground goes last itself', async () => {
    await using at = await startWeb();
    await at.cluster.api.delete(resources.deployments, 'web', { ...IN_DEFAULT, propagationPolicy: 'Foreground' });
    await at.seconds(0.01);
    expect(counts(at)).toEqual([1, 1, 2]);
    await at.seconds(10);
    expect(counts(at)).toEqual([0, 0, 0]);
  });

  test('with orphaning leaves the dependents without it', async () => {
    await using at = await startWeb();
    await at.cluster.api.delete(resources.deployments, 'web', { ...IN_DEFAULT, propagationPolicy: 'Orphan' });
    await at.seconds(10);
    expect(counts(at)).toEqual([0, 1, 2]);
    const [set] = at.cluster.caches.of(resources.replicaSets).all();
    expect(set?.metadata?.ownerReferences ?? []).toEqual([]);
  });

  test('keeps what nobody owns, such as the claims of a StatefulSet', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(1) });
    const claim = {
      metadata: { name: 'data' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    };
    await at.cluster.api.create(
      resources.statefulSets,
      testStatefulSet('db', { set: { volumeClaimTemplates: [claim] } }),
      IN_DEFAULT,
    );
    await at.seconds(30);
    await at.cluster.api.delete(resources.statefulSets, 'db', IN_DEFAULT);
    await at.seconds(10);
    expect(at.pods()).toEqual([]);
    expect([...at.cluster.caches.of(resources.controllerRevisions).all()]).toEqual([]);
    expect([...at.cluster.caches.of(resources.persistentVolumeClaims).all()].map(nameOf)).toEqual(['data-db-0']);
  });
});

const configMap = (name: string, ownerReferences: object[]) => ({
  apiVersion: 'v1' as const,
  kind: 'ConfigMap' as const,
  metadata: {
    name,
    namespace: 'default',
    ownerReferences: ownerReferences as { apiVersion: string; kind: string; name: string; uid: string }[],
  },
});

test('an object whose owner never existed is removed, one of an unknown kind of owner stays', async () => {
  await using at = await startVirtualCluster();
  const owner = (kind: string) => ({ apiVersion: 'v1', kind, name: 'ghost', uid: 'no-such-uid' });
  await at.cluster.api.create(resources.configMaps, configMap('a', [owner('Secret')]), IN_DEFAULT);
  await at.cluster.api.create(resources.configMaps, configMap('b', [owner('Widget')]), IN_DEFAULT);
  await at.seconds(5);
  const names = [...at.cluster.caches.of(resources.configMaps).inNamespace('default')].map(nameOf);
  expect(names).not.toContain('a');
  expect(names).toContain('b');
});

test('of two owners the one that is gone is struck off', async () => {
  await using at = await startVirtualCluster();
  const secret = await at.cluster.api.create(
    resources.secrets,
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } },
    IN_DEFAULT,
  );
  const owners = [
    { apiVersion: 'v1', kind: 'Secret', name: 's', uid: uidOf(secret) },
    { apiVersion: 'v1', kind: 'Secret', name: 'ghost', uid: 'no-such-uid' },
  ];
  await at.cluster.api.create(resources.configMaps, configMap('c', owners), IN_DEFAULT);
  await at.seconds(5);
  const kept = await at.cluster.api.get(resources.configMaps, 'c', IN_DEFAULT);
  expect(kept.metadata?.ownerReferences?.map(({ name }) => name)).toEqual(['s']);
});

test('a deleted namespace is emptied, waits for its pods, and goes', async () => {
  await using at = await startVirtualCluster({ nodes: testNodes(1) });
  await at.cluster.api.create(resources.namespaces, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'shop' },
  });
  const deployment = testDeployment('web', { replicas: 2, annotations: { 'stowage.test/stop-after': '12s' } });
  await at.cluster.api.create(
    resources.deployments,
    { ...deployment, metadata: { name: 'web', namespace: 'shop' } },
    { namespace: 'shop' },
  );
  await at.seconds(10);
  expect(at.pods('shop')).toHaveLength(2);
  await at.cluster.api.delete(resources.namespaces, 'shop');
  await at.seconds(8);
  expect((await at.cluster.api.get(resources.namespaces, 'shop')).status?.phase).toBe('Terminating');
  await at.seconds(20);
  await expect(at.cluster.api.get(resources.namespaces, 'shop')).rejects.toSatisfy(isNotFound);
  expect([...at.cluster.caches.of(resources.pods).all()]).toEqual([]);
});

const boats: ResourceType = { group: 'example.com', version: 'v1', plural: 'boats', kind: 'Boat', namespaced: true };

const boatDefinition = {
  metadata: { name: 'boats.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'boats', kind: 'Boat' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};

test('custom objects go with their owner, and stay while one of their owners does', async () => {
  await using at = await startVirtualCluster();
  const { api } = at.cluster;
  await api.create<KubeObject>(customResourceDefinitions, boatDefinition);
  const [first, second] = [
    await api.create(resources.configMaps, configMap('first', [])),
    await api.create(resources.configMaps, configMap('second', [])),
  ];
  const reference = (owner: KubeObject) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: nameOf(owner),
    uid: uidOf(owner),
  });
  const boat = (name: string, owners: readonly KubeObject[]) =>
    api.create(boats, { metadata: { name, namespace: 'default', ownerReferences: owners.map(reference) } });
  await boat('one', [first]);
  await boat('both', [first, second]);
  await boat('free', []);
  await api.delete(resources.configMaps, 'first', IN_DEFAULT);
  await at.seconds(5);
  const { items } = await api.list(boats);
  expect(items.map((each) => [nameOf(each), each.metadata?.ownerReferences?.map(({ name }) => name)])).toEqual([
    ['both', ['second']],
    ['free', undefined],
  ]);
});

test('a deleted namespace takes with it what nobody here names: limits, and objects of custom types', async () => {
  await using at = await startVirtualCluster();
  const { api } = at.cluster;
  const limitRanges: ResourceType = {
    group: '',
    version: 'v1',
    plural: 'limitranges',
    kind: 'LimitRange',
    namespaced: true,
  };
  await api.create<KubeObject>(customResourceDefinitions, boatDefinition);
  await api.create(resources.namespaces, { metadata: { name: 'shop' } });
  for (const type of [boats, limitRanges]) await api.create(type, { metadata: { name: 'a', namespace: 'shop' } });
  await api.delete(resources.namespaces, 'shop');
  await at.seconds(20);
  await expect(api.get(resources.namespaces, 'shop')).rejects.toSatisfy(isNotFound);
  for (const type of [boats, limitRanges]) expect((await api.list(type)).items).toEqual([]);
});
