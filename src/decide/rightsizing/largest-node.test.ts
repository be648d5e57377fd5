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

test('a node that is no machine says of itself what it likes: virtual-kubelet', () => {
  const labels = { type: 'virtual-kubelet' };
  const cloud = aNode('cloud', undefined, { labels, allocatable: { cpuMillis: 10_000_000, memoryBytes: 4096 * GIB } });
  expect(largestNode(view([cloud, big]))).toEqual({ cpuMillis: 8000, memoryBytes: 16 * GIB });
  expect(largestNode(view([cloud]))).toBeUndefined();
});

const [CPU, MEMORY] = [4000, 16 * GIB];
test.each<[string, readonly [number, number][], { cpuMillis: number; memoryBytes: number } | undefined]>([
  [
    'a second node that has more of nothing',
    [
      [CPU, MEMORY],
      [CPU, MEMORY],
    ],
    { cpuMillis: CPU, memoryBytes: MEMORY },
  ],
  [
    'one that has more CPU',
    [
      [CPU, MEMORY],
      [CPU + 1, 1],
    ],
    { cpuMillis: CPU + 1, memoryBytes: MEMORY },
  ],
  [
    'one that has more memory',
    [
      [CPU, MEMORY],
      [1, MEMORY + 1],
    ],
    { cpuMillis: CPU, memoryBytes: MEMORY + 1 },
  ],
  ['no CPU anywhere', [[0, MEMORY]], undefined],
  ['no memory anywhere', [[CPU, 0]], undefined],
  ['the least of both', [[1, 1]], { cpuMillis: 1, memoryBytes: 1 }],
])('%s', (_, sizes, expected) => {
  const nodes = sizes.map(([cpuMillis, memoryBytes], index) =>
    aNode(`n${index}`, undefined, { allocatable: { cpuMillis, memoryBytes } }),
  );
  expect(largestNode(view(nodes))).toEqual(expected);
});

test('a larger node full of DaemonSets leaves the smaller one the largest', () => {
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'uid-agent' };
  const containers = [aContainer({ size: { cpuRequest: 7000, memoryRequest: 60 * GIB } })];
  const agent = { ...aSizedPod(aReplicaSet(aDeployment()), 'agent-1', { containers }, { nodeName: 'huge' }), owner };
  const huge = aNode('huge', undefined, { allocatable: { cpuMillis: 8000, memoryBytes: 64 * GIB } });
  const small = aNode('small', undefined, { allocatable: { cpuMillis: 4000, memoryBytes: 16 * GIB } });
  for (const nodes of [
    [huge, small],
    [small, huge],
  ])
    expect(largestNode(view(nodes, [agent]))).toEqual({ cpuMillis: 4000, memoryBytes: 16 * GIB });
});
