import { expect, test } from 'vitest';
import { resources } from '../../api/resources.ts';
import { isFinished } from '../pod-state.ts';
import { type ClusterState, createClusterState } from '../scheduler/cluster-state.ts';
import { podInfoOf } from '../scheduler/pod-info.ts';
import { startVirtualCluster, testDeployment, testNodes, type VirtualCluster } from '../testing/virtual-cluster.ts';
import { followCluster } from './followed-cluster.ts';

const IN_DEFAULT = { namespace: 'default' };

/** What each node has on it; a sum of 0 is the same as none. */
function contents(state: ClusterState): Record<string, unknown> {
  return Object.fromEntries(
    [...state.nodes()].map(({ name, pods, requested }) => [
      name,
      { pods: [...pods.keys()].sort(), requested: Object.fromEntries([...requested].filter(([, sum]) => sum !== 0)) },
    ]),
  );
}

/** The same made anew from all there is. */
function present({ cluster: { caches } }: VirtualCluster): Record<string, unknown> {
  const state = createClusterState();
  for (const node of caches.of(resources.nodes).all()) state.putNode(node);
  for (const pod of caches.of(resources.pods).all())
    if (pod.spec?.nodeName !== undefined && !isFinished(pod)) state.putPod(podInfoOf(pod), pod.spec.nodeName);
  return contents(state);
}

test('what was followed is what a new look shows, whenever it is asked for', async () => {
  await using at = await startVirtualCluster({ nodes: testNodes(3) });
  const current = followCluster(at.cluster.caches, podInfoOf);
  const { api } = at.cluster;
  const scale = (name: string, replicas: number) =>
    api.patch(resources.deployments, name, { type: 'merge', body: { spec: { replicas } } }, IN_DEFAULT);
  expect(contents(current())).toEqual(present(at));
  await api.create(resources.deployments, testDeployment('web', { replicas: 6 }), IN_DEFAULT);
  await at.seconds(20);
  expect(at.pods()).toHaveLength(6);
  expect(contents(current())).toEqual(present(at));
  // Pods that come and go between two looks leave nothing behind.
  await scale('web', 9);
  await at.seconds(20);
  await scale('web', 2);
  await at.seconds(90);
  expect(at.pods()).toHaveLength(2);
  expect(contents(current())).toEqual(present(at));
  at.cluster.kubelet.loseNode('node-1');
  await api.delete(resources.nodes, 'node-1');
  await scale('web', 4);
  await at.seconds(300);
  expect(Object.keys(contents(current()))).toEqual(['node-2', 'node-3']);
  expect(contents(current())).toEqual(present(at));
});
