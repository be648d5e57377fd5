import { describe, expect, test } from 'vitest';
import type { Pod } from '../../api/core.ts';
import { resources } from '../../api/resources.ts';
import { findCondition, nameOf } from '../objects.ts';
import { unwatched } from '../testing/unwatched.ts';
import { startVirtualCluster, testDeployment, testNodes, type VirtualCluster } from '../testing/virtual-cluster.ts';

const IN_DEFAULT = { namespace: 'default' };

const barePod = (name: string, spec: Partial<NonNullable<Pod['spec']>> = {}, cpu = '100m'): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', labels: { app: 'bare' } },
  spec: { containers: [{ name: 'app', image: 'app:1', resources: { requests: { cpu } } }], ...spec },
});
const create = ({ cluster }: VirtualCluster, pod: Pod) => cluster.api.create(resources.pods, pod, IN_DEFAULT);
const nodeOf = (at: VirtualCluster, name: string) => at.pods().find((pod) => nameOf(pod) === name)?.spec?.nodeName;
const scheduled = (at: VirtualCluster, name: string) =>
  findCondition(at.pods().find((pod) => nameOf(pod) === name)?.status?.conditions, 'PodScheduled');

/** One node, full of pod `a`; pod `b` waits. */
async function startWithOneWaiting(): Promise<VirtualCluster> {
  const at = await startVirtualCluster({ nodes: testNodes(1, 1000) });
  await create(at, barePod('a', {}, '800m'));
  await at.seconds(5);
  await create(at, barePod('b', {}, '800m'));
  await at.seconds(5);
  expect(nodeOf(at, 'b')).toBeUndefined();
  return at;
}

describe('the scheduler', () => {
  test('binds a pod and marks it as scheduled', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(1) });
    await create(at, barePod('a'));
    await at.seconds(5);
    expect(nodeOf(at, 'a')).toBe('node-1');
    expect(scheduled(at, 'a')?.status).toBe('True');
  });

  test('says why a pod fits nowhere, and binds it when a node appears', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(6, 1000) });
    const nodeSelector = { 'karpenter.sh/capacity-type': 'spot' };
    await create(at, barePod('a', { nodeSelector }));
    await at.seconds(1);
    expect(scheduled(at, 'a')).toMatchObject({
      status: 'False',
      reason: 'Unschedulable',
      message:
        "0/6 nodes are available: 6 node(s) didn't match Pod's node affinity/selector. preemption: 0/6 nodes are available: 6 Preemption is not helpful for scheduling.",
    });
    const [spot] = testNodes(1, 1000, { name: 'spot-1', labels: nodeSelector });
    if (spot !== undefined) await at.cluster.kubelet.addNode(spot);
    await at.seconds(15);
    expect(nodeOf(at, 'a')).toBe('spot-1');
  });

  test('mixes reasons as the nodes differ', async () => {
    const small = testNodes(3, 1000);
    const other = testNodes(3, 8000).map((node) => ({
      ...node,
      name: `other-${node.name}`,
      labels: { pool: 'other' },
    }));
    await using at = await startVirtualCluster({
      nodes: [...small.map((node) => ({ ...node, labels: { pool: 'mine' } })), ...other],
    });
    await create(at, barePod('a', { nodeSelector: { pool: 'mine' } }, '2'));
    await at.seconds(1);
    expect(scheduled(at, 'a')?.message).toBe(
      "0/6 nodes are available: 3 Insufficient cpu, 3 node(s) didn't match Pod's node affinity/selector. preemption: 0/6 nodes are available: 6 Preemption is not helpful for scheduling.",
    );
  });

  test('binds a waiting pod when another leaves', async () => {
    await using at = await startWithOneWaiting();
    await at.cluster.api.delete(resources.pods, 'a', IN_DEFAULT);
    await at.seconds(15);
    expect(nodeOf(at, 'b')).toBe('node-1');
  });

  test('binds a waiting pod when another is resized to less', async () => {
    await using at = await startWithOneWaiting();
    const containers = [{ name: 'app', resources: { requests: { cpu: '100m' } } }];
    const resize = { type: 'strategic', body: { spec: { containers } } } as const;
    await at.cluster.api.patch(resources.pods, 'a', resize, { ...IN_DEFAULT, subresource: 'resize' });
    await at.seconds(15);
    expect(nodeOf(at, 'b')).toBe('node-1');
  });

  test('sees to a pod that took the place of one of its name while nobody watched', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(1, 1000) });
    await create(at, barePod('a', {}, '2'));
    await at.seconds(5);
    expect(nodeOf(at, 'a')).toBeUndefined();
    await unwatched(at, resources.pods, async () => {
      await at.cluster.api.delete(resources.pods, 'a', IN_DEFAULT);
      await create(at, barePod('a'));
    });
    await at.seconds(60);
    expect(nodeOf(at, 'a')).toBe('node-1');
  });

  test('takes the pod of higher priority first', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(1, 1000) });
    await create(at, barePod('blocker', {}, '800m'));
    await at.seconds(5);
    await create(at, barePod('low', {}, '800m'));
    await at.seconds(2);
    await create(at, barePod('high', { priorityClassName: 'system-node-critical' }, '800m'));
    await at.seconds(30);
    await at.cluster.api.delete(resources.pods, 'blocker', IN_DEFAULT);
    await at.seconds(15);
    expect([nodeOf(at, 'high'), nodeOf(at, 'low')]).toEqual(['node-1', undefined]);
  });

  test('leaves pods with gates or another scheduler alone', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(1) });
    await create(at, barePod('gated', { schedulingGates: [{ name: 'example.com/wait' }] }));
    await create(at, barePod('foreign', { schedulerName: 'other' }));
    await at.seconds(10);
    expect([nodeOf(at, 'gated'), nodeOf(at, 'foreign')]).toEqual([undefined, undefined]);
  });

  test('spreads the replicas of a workload over nodes and zones without being asked', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(6) });
    await at.cluster.api.create(resources.deployments, testDeployment('web', { replicas: 12 }), IN_DEFAULT);
    await at.seconds(10);
    const counts = new Map<string, number>();
    for (const pod of at.pods()) counts.set(pod.spec?.nodeName ?? '', (counts.get(pod.spec?.nodeName ?? '') ?? 0) + 1);
    expect([...counts.values()]).toEqual([2, 2, 2, 2, 2, 2]);
  });

  test('prefers nodes a pod prefers', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(4) });
    const preference = { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-3'] }] };
    const affinity = {
      nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, preference }] },
    };
    for (const name of ['a', 'b', 'c']) await create(at, barePod(name, { affinity }));
    await at.seconds(5);
    expect(['a', 'b', 'c'].map((name) => nodeOf(at, name))).toEqual(['node-3', 'node-3', 'node-3']);
  });

  test('waits for claims that do not exist', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(1) });
    await create(at, barePod('a', { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] }));
    await at.seconds(1);
    expect(scheduled(at, 'a')?.message).toContain('persistentvolumeclaim "data" not found');
    const claim = {
      apiVersion: 'v1' as const,
      kind: 'PersistentVolumeClaim' as const,
      metadata: { name: 'data' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    };
    await at.cluster.api.create(resources.persistentVolumeClaims, claim, IN_DEFAULT);
    await at.seconds(30);
    expect(nodeOf(at, 'a')).toBe('node-1');
  });

  test('puts no more on a node than it can hold, however many arrive at once', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(3, 1000) });
    await at.cluster.api.create(resources.deployments, testDeployment('web', { replicas: 50 }), IN_DEFAULT);
    await at.seconds(30);
    const bound = at.pods().filter((pod) => pod.spec?.nodeName !== undefined);
    expect(bound).toHaveLength(30);
    for (const name of ['node-1', 'node-2', 'node-3']) {
      expect(bound.filter((pod) => pod.spec?.nodeName === name)).toHaveLength(10);
    }
  });
});
