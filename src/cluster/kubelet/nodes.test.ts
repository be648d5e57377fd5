import { describe, expect, test } from 'vitest';
import { resources } from '../../api/resources.ts';
import { createSilentLogger } from '../../lib/log.ts';
import { createSeededRandom } from '../../lib/random.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { createApiServer } from '../apiserver/api-server.ts';
import { createCaches } from '../caches.ts';
import { findCondition, nameOf } from '../objects.ts';
import { isReady } from '../pod-state.ts';
import { barePod, conditions, container, start, stored } from '../testing/bare-pod.ts';
import { startVirtualCluster, TEST_START_MILLIS, testNodes, type VirtualCluster } from '../testing/virtual-cluster.ts';
import { createKubelet } from './kubelet.ts';

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

  test('that comes back goes on with what its pods had not come to: ready, or at their end', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(1) });
    await start(at, barePod({ 'stowage.test/ready-after': '30s', 'stowage.test/crash-after': '200s' }));
    await at.seconds(10);
    at.cluster.kubelet.loseNode('node-1');
    await at.seconds(10);
    await at.cluster.kubelet.recoverNode('node-1');
    await at.seconds(5);
    expect(isReady(stored(at) ?? {})).toBe(false);
    await at.seconds(10);
    expect(isReady(stored(at) ?? {})).toBe(true);
    at.cluster.kubelet.loseNode('node-1');
    await at.seconds(200);
    expect(container(at)?.restartCount).toBe(0);
    await at.cluster.kubelet.recoverNode('node-1');
    await at.seconds(5);
    expect(container(at)).toMatchObject({ restartCount: 1, lastState: { terminated: { exitCode: 1 } } });
  });

  test.each<[string, Record<string, string>, (at: VirtualCluster) => void, boolean]>([
    ['by its script', { 'stowage.test/unready-after': '10s' }, () => {}, false],
    ['by order', {}, ({ cluster }) => cluster.kubelet.setReady('default/a', 'app', false), false],
    [
      'by order, until its script brings something new',
      { 'stowage.test/ready-after': '60s' },
      ({ cluster }) => cluster.kubelet.setReady('default/a', 'app', true),
      true,
    ],
  ])(
    'that comes back goes on with a pod that fails its probe for good, %s',
    async (_, annotations, order, isReadyThen) => {
      await using at = await startVirtualCluster({ nodes: testNodes(1) });
      await start(at, barePod(annotations));
      await at.seconds(20);
      order(at);
      await at.seconds(10);
      at.cluster.kubelet.loseNode('node-1');
      await at.seconds(10);
      await at.cluster.kubelet.recoverNode('node-1');
      await at.seconds(5);
      expect(isReady(stored(at) ?? {})).toBe(isReadyThen);
      await at.seconds(60);
      expect(isReady(stored(at) ?? {})).toBe(isReadyThen);
    },
  );

  test('that somebody taints keeps a pod for as long as that tolerates it, also where the taint does not say since when', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(1) });
    const toleration = { key: 'full', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 };
    await start(at, barePod({}, { tolerations: [toleration] }));
    await at.seconds(5);
    const body = { spec: { taints: [{ key: 'full', effect: 'NoExecute' }] } };
    await at.cluster.api.patch(resources.nodes, 'node-1', { type: 'merge', body });
    await at.seconds(30);
    // Whatever else changes of it.
    const touched = { metadata: { labels: { touched: 'yes' } } };
    await at.cluster.api.patch(resources.nodes, 'node-1', { type: 'merge', body: touched });
    await at.seconds(25);
    expect(stored(at)?.metadata).not.toHaveProperty('deletionTimestamp');
    await at.seconds(10);
    expect(stored(at)).toBeUndefined();
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

  test('that is lost and then deleted is forgotten; later ones get addresses of their own', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(2) });
    const { api, kubelet, caches } = at.cluster;
    kubelet.loseNode('node-1');
    await api.delete(resources.nodes, 'node-1');
    await at.seconds(1);
    await kubelet.recoverNode('node-1');
    expect(kubelet.isAlive('node-1')).toBe(false);
    for (const node of testNodes(3).slice(2)) await kubelet.addNode(node);
    for (const nodeName of ['node-2', 'node-3']) {
      const pod = barePod({}, { nodeName });
      await start(at, { ...pod, metadata: { ...pod.metadata, name: nodeName } });
    }
    await at.seconds(10);
    const addresses = [...caches.of(resources.pods).all()].map(({ status }) => status?.podIP);
    expect(addresses).toHaveLength(2);
    expect(addresses).not.toContain(undefined);
    expect(new Set(addresses).size).toBe(2);
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

describe('the taint of a node that has not reported yet', () => {
  test('is taken off in the end, where no node lifecycle controller does, though the writes fail that do it', async () => {
    const clock = createVirtualClock(TEST_START_MILLIS);
    const random = createSeededRandom(1);
    const log = createSilentLogger();
    const server = createApiServer({ clock, random });
    const api = server.client();
    const caches = createCaches({ api, clock, random, log });
    const kubelet = createKubelet({ api, caches, clock, random, log });
    const stop = new AbortController();
    const work = [caches.run(stop.signal), kubelet.run(stop.signal)];
    await caches.synced();
    const taints = async (): Promise<(string | undefined)[]> =>
      ((await api.get(resources.nodes, 'node-1')).spec?.taints ?? []).map(({ key }) => key);
    const failing = server.faults.add({ verbs: ['patch'], resources: ['nodes'], effect: { kind: 'outage' } });
    for (const node of testNodes(1)) await kubelet.addNode(node);
    await clock.advance(1000);
    expect(await taints()).toEqual(['node.kubernetes.io/not-ready']);
    failing.remove();
    await clock.advance(5000);
    expect(await taints()).toEqual([]);
    stop.abort();
    await Promise.all(work);
    await server.close();
  });
});
