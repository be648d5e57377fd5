import { describe, expect, test } from 'vitest';
import type { DaemonSet } from '../../api/core.ts';
import { resources } from '../../api/resources.ts';
import { isReady } from '../pod-state.ts';
import { startVirtualCluster, testNodes, testTemplate, type VirtualCluster } from '../testing/virtual-cluster.ts';

const IN_DEFAULT = { namespace: 'default' };

const daemonSet = (spec: object = {}, image = 'agent:1'): DaemonSet => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'agent', namespace: 'default' },
  spec: { selector: { matchLabels: { app: 'agent' } }, template: testTemplate('agent', { image, spec }) },
});
const create = ({ cluster }: VirtualCluster, set: DaemonSet) =>
  cluster.api.create(resources.daemonSets, set, IN_DEFAULT);
const nodesOf = (at: VirtualCluster): string[] =>
  at
    .pods()
    .map((pod) => pod.spec?.nodeName ?? '')
    .sort();
const status = ({ cluster }: VirtualCluster) => cluster.caches.of(resources.daemonSets).get('default/agent')?.status;

describe('a DaemonSet', () => {
  test('runs one pod on every node, also on those that join later', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(3) });
    await create(at, daemonSet());
    await at.seconds(10);
    expect(nodesOf(at)).toEqual(['node-1', 'node-2', 'node-3']);
    const late = testNodes(4)[3];
    if (late !== undefined) await at.cluster.kubelet.addNode(late);
    await at.seconds(10);
    expect(nodesOf(at)).toEqual(['node-1', 'node-2', 'node-3', 'node-4']);
    expect(status(at)).toMatchObject({
      desiredNumberScheduled: 4,
      currentNumberScheduled: 4,
      numberReady: 4,
    });
    expect(status(at)).not.toHaveProperty('numberUnavailable');
  });

  test('keeps to the nodes it selects and tolerates, but stays on cordoned ones', async () => {
    const [first, second, third] = testNodes(3);
    if (first === undefined || second === undefined || third === undefined) throw new Error('three nodes expected');
    const nodes = [
      { ...first, labels: { disk: 'ssd' } },
      { ...second, labels: { disk: 'ssd' }, taints: [{ key: 'gpu', effect: 'NoSchedule' }] },
      third,
    ];
    await using at = await startVirtualCluster({ nodes });
    await create(at, daemonSet({ nodeSelector: { disk: 'ssd' } }));
    await at.seconds(10);
    expect(nodesOf(at)).toEqual(['node-1']);
    await at.cluster.api.patch(resources.nodes, 'node-1', { type: 'merge', body: { spec: { unschedulable: true } } });
    await at.seconds(10);
    expect(nodesOf(at)).toEqual(['node-1']);
    await at.cluster.api.patch(resources.nodes, 'node-1', {
      type: 'merge',
      body: { metadata: { labels: { disk: 'hdd' } } },
    });
    await at.seconds(10);
    expect(nodesOf(at)).toEqual([]);
  });

  test('goes on where a taint only keeps newcomers away, and ends where it drives out', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(2) });
    await create(at, daemonSet());
    await at.seconds(10);
    const taint = (effect: string) =>
      at.cluster.api.patch(resources.nodes, 'node-1', {
        type: 'merge',
        body: { spec: { taints: [{ key: 'leaving', effect }] } },
      });
    await taint('NoSchedule');
    await at.seconds(60);
    expect(nodesOf(at)).toEqual(['node-1', 'node-2']);
    expect(status(at)).toMatchObject({ desiredNumberScheduled: 1, numberMisscheduled: 1 });
    await taint('NoExecute');
    await at.seconds(60);
    expect(nodesOf(at)).toEqual(['node-2']);
  });

  test('is mended by a new template however many of its pods never became ready', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(3) });
    const broken = testTemplate('agent', { annotations: { 'stowage.test/ready-after': 'never' } });
    await create(at, { ...daemonSet(), spec: { selector: { matchLabels: { app: 'agent' } }, template: broken } });
    await at.seconds(30);
    expect(at.pods().filter(isReady)).toEqual([]);
    const template = { metadata: { annotations: { 'stowage.test/ready-after': '1s' } } };
    await at.cluster.api.patch(
      resources.daemonSets,
      'agent',
      { type: 'merge', body: { spec: { template } } },
      IN_DEFAULT,
    );
    await at.seconds(60);
    expect(at.pods().filter(isReady)).toHaveLength(3);
    expect(status(at)).toMatchObject({ updatedNumberScheduled: 3, numberAvailable: 3 });
  });

  test('counts a pod as available once it has been ready for minReadySeconds', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(1) });
    const spec = {
      selector: { matchLabels: { app: 'agent' } },
      template: testTemplate('agent', {}),
      minReadySeconds: 30,
    };
    await create(at, { ...daemonSet(), spec });
    await at.seconds(20);
    expect(status(at)).toMatchObject({ numberReady: 1, numberUnavailable: 1 });
    await at.seconds(30);
    expect(status(at)).toMatchObject({ numberReady: 1, numberAvailable: 1 });
  });

  test('updates one pod at a time', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(4) });
    await create(at, daemonSet());
    await at.seconds(10);
    let fewest = 4;
    at.cluster.caches.of(resources.pods).onChange(() => {
      fewest = Math.min(fewest, at.pods().filter(isReady).length);
    });
    fewest = 4;
    await at.cluster.api.patch(
      resources.daemonSets,
      'agent',
      { type: 'merge', body: { spec: { template: testTemplate('agent', { image: 'agent:2' }) } } },
      IN_DEFAULT,
    );
    await at.seconds(60);
    expect(fewest).toBe(3);
    expect(at.pods().map((pod) => pod.spec?.containers[0]?.image)).toEqual(Array.from({ length: 4 }, () => 'agent:2'));
    expect(status(at)?.updatedNumberScheduled).toBe(4);
  });
});
