import { expect, test } from 'vitest';
import type { KubeObject } from '../../api/core.ts';
import type { ResourceType } from '../../api/resources.ts';
import { barePod, IN_DEFAULT, STEADY, start } from '../testing/bare-pod.ts';
import { startVirtualCluster, testNodes, type VirtualCluster } from '../testing/virtual-cluster.ts';

type Metrics = KubeObject & {
  readonly timestamp?: string;
  readonly window?: string;
  readonly usage?: unknown;
  readonly containers?: readonly unknown[];
};
const GROUP = { group: 'metrics.k8s.io', version: 'v1beta1' };
const podMetrics: ResourceType<Metrics> = { ...GROUP, plural: 'pods', kind: 'PodMetrics', namespaced: true };
const nodeMetrics: ResourceType<Metrics> = { ...GROUP, plural: 'nodes', kind: 'NodeMetrics', namespaced: false };

const options = { nodes: testNodes(1), ...STEADY, metricsServer: {} };
const pods = async ({ cluster }: VirtualCluster): Promise<Metrics[]> => [
  ...(await cluster.api.list(podMetrics, IN_DEFAULT)).items,
];

test('tells the rate between its last two looks, of pods and nodes', async () => {
  await using at = await startVirtualCluster(options);
  const pod = barePod({ 'stowage.test/cpu': '250m', 'stowage.test/memory': '64Mi' });
  await start(at, { ...pod, metadata: { ...pod.metadata, labels: { app: 'a' } } });
  await at.seconds(46);
  expect(await pods(at)).toEqual([
    {
      apiVersion: 'metrics.k8s.io/v1beta1',
      kind: 'PodMetrics',
      metadata: { name: 'a', namespace: 'default', labels: { app: 'a', 'topology.kubernetes.io/zone': 'zone-a' } },
      timestamp: '2026-06-01T00:00:45Z',
      window: '15s',
      containers: [{ name: 'app', usage: { cpu: '250m', memory: '64Mi' } }],
    },
  ]);
  expect(await at.cluster.api.get(nodeMetrics, 'node-1')).toMatchObject({ usage: { cpu: '270m', memory: '320Mi' } });
});

test('knows nothing of a pod it has seen once, unless that is as young as the look before', async () => {
  await using at = await startVirtualCluster(options);
  await at.seconds(10);
  await start(at, barePod({ 'stowage.test/cpu': '250m' }));
  await at.seconds(6);
  expect(await pods(at)).toEqual([]);
  await at.seconds(15);
  expect(await pods(at)).toHaveLength(1);
  const second = barePod({ 'stowage.test/cpu': '250m' });
  await at.seconds(0.5);
  await start(at, { ...second, metadata: { ...second.metadata, name: 'b' } });
  // It runs at 33.5 s; the look at 45 s finds it 11.5 s old.
  await at.seconds(14);
  expect(await pods(at)).toContainEqual(expect.objectContaining({ window: '11.5s' }));
});

test('forgets pods and nodes that do not answer any more', async () => {
  await using at = await startVirtualCluster(options);
  await start(at, barePod({ 'stowage.test/cpu': '250m' }));
  await at.seconds(46);
  at.cluster.kubelet.loseNode('node-1');
  await at.seconds(15);
  expect(await pods(at)).toEqual([]);
  expect((await at.cluster.api.list(nodeMetrics)).items).toEqual([]);
});
