import { describe, expect, test } from 'vitest';
import { resources } from '../../api/resources.ts';
import { findCondition } from '../objects.ts';
import { isReady } from '../pod-state.ts';
import { barePod, conditions, container, IN_DEFAULT, STEADY, start, stored } from '../testing/bare-pod.ts';
import { startVirtualCluster, testNodes } from '../testing/virtual-cluster.ts';

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
  test('is restarted as soon as it is noticed, then ever later, in CrashLoopBackOff', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(1), ...STEADY });
    await start(at, barePod({ 'stowage.test/crash-after': '1s' }));
    await at.seconds(4.5);
    expect(container(at)).toMatchObject({
      restartCount: 1,
      lastState: { terminated: { exitCode: 1, reason: 'Error' } },
    });
    await at.seconds(1);
    expect(container(at)?.state?.waiting).toEqual({
      reason: 'CrashLoopBackOff',
      message: `back-off 10s restarting failed container=app pod=a_default(${stored(at)?.metadata?.uid})`,
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
    await at.seconds(1.5);
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
