import { describe, expect, test } from 'vitest';
import { resources } from '../../../api/resources.ts';
import { nameOf } from '../../objects.ts';
import {
  startVirtualCluster,
  testNodes,
  testStatefulSet,
  testTemplate,
  type VirtualCluster,
} from '../../testing/virtual-cluster.ts';

const IN_DEFAULT = { namespace: 'default' };

const patch = ({ cluster }: VirtualCluster, spec: object) =>
  cluster.api.patch(resources.statefulSets, 'db', { type: 'merge', body: { spec } }, IN_DEFAULT);

/** Names in the order of their creation or removal. */
function record(at: VirtualCluster): string[] {
  const log: string[] = [];
  at.cluster.caches.of(resources.pods).onChange((before, after) => {
    if (before === undefined && after !== undefined) log.push(`+${nameOf(after)}`);
    if (before !== undefined && after === undefined) log.push(`-${nameOf(before)}`);
  });
  return log;
}

const claimTemplate = {
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
};

describe('a StatefulSet', () => {
  test('starts its pods one after the other and stops them in reverse', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(3) });
    const log = record(at);
    await at.cluster.api.create(resources.statefulSets, testStatefulSet('db', { replicas: 3 }), IN_DEFAULT);
    await at.seconds(30);
    expect(at.statefulSet('db').status).toMatchObject({
      replicas: 3,
      readyReplicas: 3,
      currentReplicas: 3,
      updatedReplicas: 3,
    });
    await patch(at, { replicas: 0 });
    await at.seconds(30);
    await patch(at, { replicas: 2 });
    await at.seconds(30);
    expect(log).toEqual(['+db-0', '+db-1', '+db-2', '-db-2', '-db-1', '-db-0', '+db-0', '+db-1']);
  });

  test('updates from the highest ordinal down, each after the one before is ready', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(3) });
    await at.cluster.api.create(resources.statefulSets, testStatefulSet('db', { replicas: 3 }), IN_DEFAULT);
    await at.seconds(30);
    const before = at.statefulSet('db').status?.currentRevision;
    const log = record(at);
    log.length = 0;
    await patch(at, { template: testTemplate('db', { image: 'app:2' }) });
    await at.seconds(60);
    expect(log).toEqual(['-db-2', '+db-2', '-db-1', '+db-1', '-db-0', '+db-0']);
    const { status } = at.statefulSet('db');
    expect(status?.currentRevision).toBe(status?.updateRevision);
    expect(status?.currentRevision).not.toBe(before);
    expect(at.pods().map((pod) => pod.spec?.containers[0]?.image)).toEqual(['app:2', 'app:2', 'app:2']);
  });

  test('keeps ordinals below the partition on the old template, also when they are made anew', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(3) });
    const set = { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } };
    await at.cluster.api.create(resources.statefulSets, testStatefulSet('db', { replicas: 3, set }), IN_DEFAULT);
    await at.seconds(30);
    await patch(at, { template: testTemplate('db', { image: 'app:2' }) });
    await at.seconds(30);
    await at.cluster.api.delete(resources.pods, 'db-0', IN_DEFAULT);
    await at.seconds(30);
    expect(at.pods().map((pod) => pod.spec?.containers[0]?.image)).toEqual(['app:1', 'app:1', 'app:2']);
  });

  test('gives each ordinal a claim in the zone of its first node, which later pods return to', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(3) });
    const set = { volumeClaimTemplates: [claimTemplate] };
    await at.cluster.api.create(resources.statefulSets, testStatefulSet('db', { replicas: 3, set }), IN_DEFAULT);
    await at.seconds(90);
    const claims = [...at.cluster.caches.of(resources.persistentVolumeClaims).all()];
    expect(claims.map(nameOf).sort()).toEqual(['data-db-0', 'data-db-1', 'data-db-2']);
    expect(claims.every((claim) => claim.status?.phase === 'Bound')).toBe(true);
    const nodes = at.pods().map((pod) => pod.spec?.nodeName);
    expect(new Set(nodes).size).toBe(3);
    await patch(at, { template: testTemplate('db', { image: 'app:2' }) });
    await at.seconds(120);
    expect(at.pods().map((pod) => pod.spec?.nodeName)).toEqual(nodes);
    await patch(at, { replicas: 0 });
    await at.seconds(60);
    expect([...at.cluster.caches.of(resources.persistentVolumeClaims).all()]).toHaveLength(3);
  });

  test('with Parallel starts all pods at once', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(3) });
    const set = { podManagementPolicy: 'Parallel' };
    await at.cluster.api.create(resources.statefulSets, testStatefulSet('db', { replicas: 4, set }), IN_DEFAULT);
    await at.seconds(0.01);
    expect(at.pods().map(nameOf)).toEqual(['db-0', 'db-1', 'db-2', 'db-3']);
  });

  test('stamps its pods with name, index and revision', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(1) });
    await at.cluster.api.create(
      resources.statefulSets,
      testStatefulSet('db', { set: { ordinals: { start: 3 } } }),
      IN_DEFAULT,
    );
    await at.seconds(10);
    const [pod] = at.pods();
    expect(pod?.metadata?.labels).toMatchObject({
      'statefulset.kubernetes.io/pod-name': 'db-3',
      'apps.kubernetes.io/pod-index': '3',
      'controller-revision-hash': at.statefulSet('db').status?.updateRevision,
    });
    expect(pod?.spec).toMatchObject({ hostname: 'db-3', subdomain: 'db' });
  });
});
