import { describe, expect, test } from 'vitest';
import type { Pod } from '../../api/core.ts';
import { resources } from '../../api/resources.ts';
import { findCondition, nameOf } from '../objects.ts';
import { isReady } from '../pod-state.ts';
import { startVirtualCluster, testNodes, type VirtualCluster } from '../testing/virtual-cluster.ts';

const IN_DEFAULT = { namespace: 'default' };
const STEADY = { kubelet: { behaviour: { startMillis: 2000, readyMillis: 1000, stopMillis: 500, jitter: 0 } } };

const barePod = (annotations: Record<string, string> = {}, spec: Partial<NonNullable<Pod['spec']>> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', namespace: 'default', annotations },
  spec: {
    containers: [{ name: 'app', image: 'app:1', resources: { requests: { cpu: '200m' }, limits: { cpu: '400m' } } }],
    ...spec,
  },
});
const start = async (at: VirtualCluster, pod: Pod): Promise<void> => {
  await at.cluster.api.create(resources.pods, pod, IN_DEFAULT);
};
const stored = ({ cluster }: VirtualCluster): Pod | undefined => cluster.caches.of(resources.pods).get('default/a');
const container = (at: VirtualCluster) => stored(at)?.status?.containerStatuses?.[0];
const conditions = (at: VirtualCluster): string[] =>
  (stored(at)?.status?.conditions ?? [])
    .map(({ type, status, reason }) => `${type}=${status}${reason ? ` ${reason}` : ''}`)
    .sort();

describe('a starting pod', () => {
  test('goes through the conditions of a real one', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(1), ...STEADY });
    const probe = { httpGet: { port: 80 }, periodSeconds: 1 };
    await start(at, barePod({}, { containers: [{ name: 'app', image: 'app:1', readinessProbe: probe }] }));
    await at.seconds(1);
    expect(stored(at)?.status?.phase).toBe('Pending');
    expect(container(at)?.state).toEqual({ waiting: { reason: 'ContainerCreating' } });
    expect(conditions(at)).toEqual([
      'ContainersReady=False ContainersNotReady',
      'Initialized=True',
      'PodReadyToStartContainers=False',
      'PodScheduled=True',
      'Ready=False ContainersNotReady',
    ]);
    await at.seconds(1.5);
    expect(stored(at)?.status?.phase).toBe('Running');
    expect(container(at)).toMatchObject({ ready: false, started: true, restartCount: 0 });
    await at.seconds(1);
    expect(conditions(at)).toEqual([
      'ContainersReady=True',
      'Initialized=True',
      'PodReadyToStartContainers=True',
      'PodScheduled=True',
      'Ready=True',
    ]);
    expect(findCondition(stored(at)?.status?.conditions, 'Ready')?.message).toBeUndefined();
    expect(stored(at)?.status).toMatchObject({
      hostIP: '127.0.0.1',
      podIP: '10.64.0.2',
      startTime: '2026-06-01T00:00:00Z',
    });
  });

  test('without a readiness probe is ready as soon as it runs', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(1), ...STEADY });
    await start(at, barePod());
    await at.seconds(2.1);
    expect(isReady(stored(at) ?? {})).toBe(true);
  });

  test('reports what its containers hold', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(1), ...STEADY });
    await start(at, barePod());
    await at.seconds(3);
    expect(container(at)).toMatchObject({
      resources: { requests: { cpu: '200m' }, limits: { cpu: '400m' } },
      allocatedResources: { cpu: '200m' },
    });
  });

  test('with a broken image never runs', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(1), ...STEADY });
    await start(at, barePod({ 'stowage.test/image-error': 'true' }));
    await at.seconds(60);
    expect(stored(at)?.status?.phase).toBe('Pending');
    expect(container(at)?.state?.waiting?.reason).toBe('ImagePullBackOff');
  });

  test.each([
    ['start-after', '10s', 5, false],
    ['start-after', '10s', 11, true],
    ['ready-after', '30s', 25, false],
    ['ready-after', '30s', 33, true],
    ['ready-after', 'never', 3600, false],
    ['unready-after', '10s', 15, false],
    ['ready-after', 'nonsense', 3, true],
  ])('with %s: %s is ready after %d s: %s', async (key, value, seconds, expected) => {
    await using at = await startVirtualCluster({ nodes: testNodes(1), ...STEADY });
    await start(at, barePod({ [`stowage.test/${key}`]: value }));
    await at.seconds(seconds);
    expect(isReady(stored(at) ?? {})).toBe(expected);
  });

  test('that fails its probe for a while becomes ready again', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(1), ...STEADY });
    await start(at, barePod({ 'stowage.test/unready-after': '10s', 'stowage.test/unready-for': '5s' }));
    await at.seconds(14);
    expect(isReady(stored(at) ?? {})).toBe(false);
    await at.seconds(4);
    expect(isReady(stored(at) ?? {})).toBe(true);
  });
});

describe('a container that ends', () => {
  test('is restarted at once, then ever later, in CrashLoopBackOff', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(1), ...STEADY });
    await start(at, barePod({ 'stowage.test/crash-after': '1s' }));
    await at.seconds(3.5);
    expect(container(at)).toMatchObject({
      restartCount: 1,
      lastState: { terminated: { exitCode: 1, reason: 'Error' } },
    });
    await at.seconds(1.5);
    expect(container(at)?.state?.waiting).toEqual({
      reason: 'CrashLoopBackOff',
      message: 'back-off 10s restarting failed container=app pod=a',
    });
    expect(stored(at)?.status?.phase).toBe('Running');
    await at.seconds(10);
    expect(container(at)?.restartCount).toBe(2);
    await at.seconds(3600);
    // 1 + 10 + 20 + 40 + 80 + 160 s, then one in about 301 s.
    expect(container(at)?.restartCount).toBeGreaterThanOrEqual(14);
    expect(container(at)?.restartCount).toBeLessThanOrEqual(18);
  });

  test('for good completes the pod when it is not to be restarted', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(1), ...STEADY });
    await start(at, barePod({ 'stowage.test/complete-after': '5s' }, { restartPolicy: 'Never' }));
    await at.seconds(10);
    expect(stored(at)?.status?.phase).toBe('Succeeded');
    expect(conditions(at)).toContain('Ready=False PodCompleted');
  });

  test('because it is out of memory says so', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(1), ...STEADY });
    await start(at, barePod());
    await at.seconds(5);
    expect(at.cluster.kubelet.oomKill('default/a', 'app')).toBe(true);
    await at.seconds(1);
    expect(container(at)).toMatchObject({
      restartCount: 1,
      lastState: { terminated: { exitCode: 137, reason: 'OOMKilled' } },
    });
    expect(at.cluster.kubelet.oomKill('default/none', 'app')).toBe(false);
  });
});

describe('a deleted pod', () => {
  test.each([
    ['stops by itself', {}, 30, 0.4, 0.6],
    ['takes its time', { 'stowage.test/stop-after': '20s' }, 30, 19, 21],
    ['is killed when the grace period is over', { 'stowage.test/stop-after': 'never' }, 30, 29, 31],
    ['is killed earlier with a shorter grace period', { 'stowage.test/stop-after': '20s' }, 5, 4, 6],
  ])('%s', async (_, annotations, grace, before, after) => {
    await using at = await startVirtualCluster({ nodes: testNodes(1), ...STEADY });
    await start(at, barePod(annotations, { terminationGracePeriodSeconds: grace }));
    await at.seconds(5);
    await at.cluster.api.delete(resources.pods, 'a', IN_DEFAULT);
    await at.seconds(before);
    expect(stored(at)?.metadata?.deletionTimestamp).toBeDefined();
    await at.seconds(after - before);
    expect(stored(at)).toBeUndefined();
  });

  test('that is deleted again with a shorter grace period ends by that', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(1), ...STEADY });
    await start(at, barePod({ 'stowage.test/stop-after': 'never' }));
    await at.seconds(5);
    await at.cluster.api.delete(resources.pods, 'a', IN_DEFAULT);
    await at.seconds(3);
    await at.cluster.api.delete(resources.pods, 'a', { ...IN_DEFAULT, gracePeriodSeconds: 1 });
    await at.seconds(2);
    expect(stored(at)).toBeUndefined();
  });
});

describe('an in-place resize', () => {
  const resize = ({ cluster }: VirtualCluster, cpu: string, name = 'a') =>
    cluster.api.patch(
      resources.pods,
      name,
      {
        type: 'strategic',
        body: { spec: { containers: [{ name: 'app', resources: { requests: { cpu }, limits: { cpu: '4' } } }] } },
      },
      { ...IN_DEFAULT, subresource: 'resize' },
    );

  test('is done without a restart', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(1), ...STEADY });
    await start(at, barePod());
    await at.seconds(5);
    await resize(at, '300m');
    await at.seconds(0.1);
    expect(conditions(at)).toContain('PodResizeInProgress=True');
    expect(container(at)).toMatchObject({
      allocatedResources: { cpu: '300m' },
      resources: { requests: { cpu: '200m' } },
    });
    await at.seconds(0.1);
    expect(container(at)).toMatchObject({
      restartCount: 0,
      resources: { requests: { cpu: '300m' }, limits: { cpu: '4' } },
    });
    expect(conditions(at).filter((text) => text.startsWith('PodResize'))).toEqual([]);
  });

  test('is deferred while the node is full and done when a neighbour leaves', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(1, 1000), ...STEADY });
    await start(at, barePod());
    const neighbour = barePod();
    await start(at, {
      ...neighbour,
      metadata: { ...neighbour.metadata, name: 'b' },
      spec: { containers: [{ name: 'app', image: 'i', resources: { requests: { cpu: '600m' } } }] },
    });
    await at.seconds(5);
    await resize(at, '500m');
    await at.seconds(1);
    const pending = findCondition(stored(at)?.status?.conditions, 'PodResizePending');
    expect(pending).toMatchObject({
      status: 'True',
      reason: 'Deferred',
      message: "Node didn't have enough resource: cpu, requested: 500, used: 600, capacity: 1000",
    });
    await at.cluster.api.delete(resources.pods, 'b', IN_DEFAULT);
    await at.seconds(2);
    expect(container(at)?.resources?.requests?.['cpu']).toBe('500m');
    expect(findCondition(stored(at)?.status?.conditions, 'PodResizePending')).toBeUndefined();
  });

  test('restarts a container whose policy wants it', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(1), ...STEADY });
    const resizePolicy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }];
    const limits = { cpu: '400m' };
    await start(
      at,
      barePod(
        {},
        { containers: [{ name: 'app', image: 'i', resizePolicy, resources: { requests: { cpu: '200m' }, limits } }] },
      ),
    );
    await at.seconds(5);
    await resize(at, '300m');
    await at.seconds(2);
    expect(container(at)).toMatchObject({ restartCount: 1, resources: { requests: { cpu: '300m' } } });
  });
});

describe('a node', () => {
  const ready = ({ cluster }: VirtualCluster) =>
    findCondition(cluster.caches.of(resources.nodes).get('node-1')?.status?.conditions, 'Ready');
  const taints = ({ cluster }: VirtualCluster): string[] =>
    (cluster.caches.of(resources.nodes).get('node-1')?.spec?.taints ?? []).map(({ key, effect }) => `${key}:${effect}`);

  test('registers ready, with what pods can have', async () => {
    const reserved = { cpuMillis: 100, memoryBytes: 1024 ** 3 };
    await using at = await startVirtualCluster({ nodes: testNodes(1, 4000, { reserved }) });
    await at.seconds(1);
    expect(ready(at)?.status).toBe('True');
    expect(taints(at)).toEqual([]);
    const { capacity, allocatable } = at.cluster.caches.of(resources.nodes).get('node-1')?.status ?? {};
    expect(capacity).toEqual({ cpu: '4', memory: '64Gi', pods: '110' });
    expect(allocatable).toEqual({ cpu: '3900m', memory: '63Gi', pods: '110' });
  });

  test('that falls silent is tainted after 50 s and its pods are given up after five minutes more', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(1) });
    await start(at, barePod());
    await at.seconds(5);
    at.cluster.kubelet.loseNode('node-1');
    await at.seconds(45);
    expect(ready(at)?.status).toBe('True');
    await at.seconds(10);
    expect(ready(at)).toMatchObject({ status: 'Unknown', reason: 'NodeStatusUnknown' });
    expect(taints(at)).toEqual([
      'node.kubernetes.io/unreachable:NoSchedule',
      'node.kubernetes.io/unreachable:NoExecute',
    ]);
    expect(isReady(stored(at) ?? {})).toBe(false);
    await at.seconds(280);
    expect(stored(at)?.metadata?.deletionTimestamp).toBeUndefined();
    await at.seconds(30);
    expect(stored(at)?.metadata?.deletionTimestamp).toBeDefined();
    expect(conditions(at)).toContain('DisruptionTarget=True DeletionByTaintManager');
  });

  test('that comes back goes on with its pods', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(1) });
    await start(at, barePod());
    await at.seconds(5);
    at.cluster.kubelet.loseNode('node-1');
    await at.seconds(100);
    await at.cluster.kubelet.recoverNode('node-1');
    await at.seconds(5);
    expect(ready(at)?.status).toBe('True');
    expect(taints(at)).toEqual([]);
    expect(isReady(stored(at) ?? {})).toBe(true);
    expect(container(at)?.restartCount).toBe(0);
    await at.seconds(600);
    expect(stored(at)?.metadata?.deletionTimestamp).toBeUndefined();
  });

  test('that is deleted takes its pods with it', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(1) });
    await start(at, barePod());
    await at.seconds(5);
    at.cluster.kubelet.loseNode('node-1');
    await at.cluster.api.delete(resources.nodes, 'node-1');
    await at.seconds(35);
    expect(stored(at)).toBeDefined();
    await at.seconds(10);
    expect(stored(at)).toBeUndefined();
  });

  test('that shuts down ends its pods as failed', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(1) });
    await start(at, barePod());
    await at.seconds(5);
    await at.cluster.kubelet.shutDownNode('node-1');
    await at.seconds(1);
    expect(stored(at)?.status).toMatchObject({ phase: 'Failed', reason: 'Terminated' });
    expect(ready(at)?.status).toBe('False');
  });

  test('with heartbeats renews its lease', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(1), kubelet: { heartbeats: true } });
    await at.seconds(35);
    const lease = await at.cluster.api.get(resources.leases, 'node-1', { namespace: 'kube-node-lease' });
    expect(lease.spec).toMatchObject({
      holderIdentity: 'node-1',
      leaseDurationSeconds: 40,
      renewTime: '2026-06-01T00:00:30.000000Z',
    });
    expect(nameOf(lease)).toBe('node-1');
  });
});
