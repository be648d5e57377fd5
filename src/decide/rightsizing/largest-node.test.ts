import { expect, test } from 'vitest';
import type { PodRecord } from '../../model/records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { aDeployment, aNode, aReplicaSet, GIB } from '../../model/testing/records.ts';
import { aContainer, aSizedPod } from '../../model/testing/sizing-records.ts';
import { largestNode } from './largest-node.ts';

const view = (nodes: ReturnType<typeof aNode>[], pods: readonly PodRecord[] = []) => ({
  nodes: () => nodes,
  podsOnNode: (name: string): readonly SizedPod[] =>
    pods.flatMap((pod) => (pod.nodeName === name && pod.sizing !== undefined ? [{ pod, sizing: pod.sizing }] : [])),
});
const big = aNode('big', undefined, { allocatable: { cpuMillis: 8000, memoryBytes: 16 * GIB } });
const wide = aNode('wide', undefined, { allocatable: { cpuMillis: 4000, memoryBytes: 64 * GIB } });

test('is the most of each resource', () => {
  expect(largestNode(view([big, wide]))).toEqual({ cpuMillis: 8000, memoryBytes: 64 * GIB });
});

test('less what DaemonSets take there; other pods can go', () => {
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'uid-agent' };
  const replicaSet = aReplicaSet(aDeployment());
  const containers = [aContainer({ size: { cpuRequest: 500, memoryRequest: GIB } })];
  const agent = { ...aSizedPod(replicaSet, 'agent-1', { containers }, { nodeName: 'big' }), owner };
  const other = aSizedPod(replicaSet, 'web-1', { containers }, { nodeName: 'big' });
  expect(largestNode(view([big], [agent, other]))).toEqual({ cpuMillis: 7500, memoryBytes: 15 * GIB });
});

test('a node that is being deleted does not count; without any nothing is known', () => {
  expect(largestNode(view([{ ...big, deleting: true }, wide]))?.cpuMillis).toBe(4000);
  expect(largestNode(view([]))).toBeUndefined();
});
