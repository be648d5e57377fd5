import { expect, test } from 'vitest';
import type { Node, Pod } from '../../api/core.ts';
import { nodeObject } from '../kubelet/node-object.ts';
import { nameOf } from '../objects.ts';
import { type ClusterState, createClusterState } from '../scheduler/cluster-state.ts';
import { podInfoOf } from '../scheduler/pod-info.ts';
import { testPool } from '../testing/node-pool.ts';
import { nodeSpecOf } from './node-pool.ts';
import { planLaunches } from './provisioning-plan.ts';

const pool = testPool('od');
const machine = (name: string): Node => nodeObject(nodeSpecOf(pool, 'eu-1a', name), 0);
const pod = (name: string, cpu: string): Pod => ({
  metadata: { name, namespace: 'default', uid: name },
  spec: { containers: [{ name: 'app', resources: { requests: { cpu } } }] },
});

function shownBy(cluster: ClusterState) {
  return [...cluster.nodes()].map(({ name, node, pods, requested }) => ({
    name,
    node,
    pods: [...pods.keys()],
    cpu: requested.get('cpu') ?? 0,
  }));
}

function launchesFor(cluster: ClusterState, pending: readonly Pod[], inFlight: readonly Node[] = []): string[] {
  let count = 0;
  return planLaunches({
    cluster,
    pending,
    inFlight,
    daemons: [pod('daemon', '100m')],
    pools: [pool],
    countOf: () => 1,
    request: () => true,
    isWorthAsking: () => true,
    volumesOf: () => [],
    nextName: () => `new-${++count}`,
    infoOf: podInfoOf,
    nowMillis: 0,
  }).map(({ node }) => nameOf(node));
}

test('a plan gives the cluster back as it was, so that the next one comes out the same', () => {
  const cluster = createClusterState();
  cluster.putNode(machine('od-1'));
  cluster.putPod(podInfoOf(pod('placed', '2')), 'od-1');
  const before = shownBy(cluster);
  const pending = [pod('fits', '1'), pod('large', '3'), pod('larger', '3500m')];
  expect(launchesFor(cluster, pending)).toEqual(['new-1', 'new-2']);
  expect(shownBy(cluster)).toEqual(before);
  expect(launchesFor(cluster, pending)).toEqual(['new-1', 'new-2']);
});

test('a machine on its way takes pods, also when its node is there already, which then stays', () => {
  const cluster = createClusterState();
  const registered = { ...machine('od-1'), spec: { unschedulable: true } };
  cluster.putNode(registered);
  expect(launchesFor(cluster, [pod('fits', '1')])).toEqual(['new-1']);
  expect(launchesFor(cluster, [pod('fits', '1')], [machine('od-1')])).toEqual([]);
  expect(launchesFor(cluster, [pod('fits', '1')], [machine('od-2')])).toEqual([]);
  expect(shownBy(cluster)).toEqual([{ name: 'od-1', node: registered, pods: [], cpu: 0 }]);
});
