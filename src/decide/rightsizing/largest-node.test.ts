import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { NodeRecord, PodRecord, PodTemplate } from '../../model/records.ts';
import type { ContainerSize } from '../../model/sizing-records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { aDeployment, aNode, aPod, aReplicaSet, aTemplate, CAPACITY_TYPE, GIB } from '../../model/testing/records.ts';
import { aContainer, aSizedPod } from '../../model/testing/sizing-records.ts';
import { type LargestNode, largestNode, nodeRoom } from './largest-node.ts';

const view = (nodes: ReturnType<typeof aNode>[], pods: readonly PodRecord[] = []) => ({
  nodes: () => nodes,
  podsOnNode: (name: string): readonly SizedPod[] =>
    pods.flatMap((pod) => (pod.nodeName === name && pod.sizing !== undefined ? [{ pod, sizing: pod.sizing }] : [])),
});
/** The most of each, wherever it is. */
const mostOf = (room: ReturnType<LargestNode>) =>
  room && { cpuMillis: room.cpuBeside(0), memoryBytes: room.memoryBeside(0) };
/** What is said of any pod: none is named. */
const ofAll = (given: Parameters<typeof largestNode>[0]) => mostOf(largestNode(given)([]));
const big = aNode('big', undefined, { allocatable: { cpuMillis: 8000, memoryBytes: 16 * GIB } });
const wide = aNode('wide', undefined, { allocatable: { cpuMillis: 4000, memoryBytes: 64 * GIB } });

test('is the most of each resource', () => {
  expect(ofAll(view([big, wide]))).toEqual({ cpuMillis: 8000, memoryBytes: 64 * GIB });
});

test('less what DaemonSets take there; other pods can go', () => {
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'uid-agent' };
  const replicaSet = aReplicaSet(aDeployment());
  const containers = [aContainer({ size: { cpuRequest: 500, memoryRequest: GIB } })];
  const agent = { ...aSizedPod(replicaSet, 'agent-1', { containers }, { nodeName: 'big' }), owner };
  const other = aSizedPod(replicaSet, 'web-1', { containers }, { nodeName: 'big' });
  expect(ofAll(view([big], [agent, other]))).toEqual({ cpuMillis: 7500, memoryBytes: 15 * GIB });
});

test('less what other DaemonSets take there, for the pods of one: what it has itself is room for more', () => {
  const ownedBy = (name: string, size: ContainerSize) => ({
    ...aSizedPod(aReplicaSet(aDeployment()), `${name}-1`, { containers: [aContainer({ size })] }, { nodeName: 'big' }),
    owner: { apiVersion: 'apps/v1', kind: 'DaemonSet', name, uid: `uid-${name}` },
  });
  const agent = ownedBy('agent', { cpuRequest: 500, memoryRequest: GIB });
  const store = ownedBy('store', { cpuRequest: 2000, memoryRequest: 12 * GIB });
  const most = largestNode(view([big], [agent, store]));
  expect(mostOf(most([{ pod: store }]))).toEqual({ cpuMillis: 7500, memoryBytes: 15 * GIB });
  expect(mostOf(most([{ pod: agent }]))).toEqual({ cpuMillis: 6000, memoryBytes: 4 * GIB });
  expect(mostOf(most([]))).toEqual({ cpuMillis: 5500, memoryBytes: 3 * GIB });
});

test('a node that is being deleted does not count; without any nothing is known', () => {
  expect(ofAll(view([{ ...big, deleting: true }, wide]))?.cpuMillis).toBe(4000);
  expect(ofAll(view([]))).toBeUndefined();
});

test('a node that is no machine says of itself what it likes: virtual-kubelet', () => {
  const labels = { type: 'virtual-kubelet' };
  const cloud = aNode('cloud', undefined, { labels, allocatable: { cpuMillis: 10_000_000, memoryBytes: 4096 * GIB } });
  expect(ofAll(view([cloud, big]))).toEqual({ cpuMillis: 8000, memoryBytes: 16 * GIB });
  expect(ofAll(view([cloud]))).toBeUndefined();
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
  expect(ofAll(view(nodes))).toEqual(expected);
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
    expect(ofAll(view(nodes, [agent]))).toEqual({ cpuMillis: 4000, memoryBytes: 16 * GIB });
});

describe('of the nodes that the pods may use', () => {
  const own = (name: string, template: Partial<PodTemplate>, changes: Partial<PodRecord> = {}) => ({
    pod: aPod(aReplicaSet(aDeployment()), name, { template: aTemplate(template), ...changes }),
  });
  const small = (changes: Partial<NodeRecord> = {}): NodeRecord =>
    aNode('small', 'on-demand', { allocatable: { cpuMillis: 2000, memoryBytes: 4 * GIB }, ...changes });
  const gpu = (changes: Partial<NodeRecord> = {}): NodeRecord =>
    aNode('gpu', 'spot', { allocatable: { cpuMillis: 96_000, memoryBytes: 768 * GIB }, ...changes });
  const ofSmall = { cpuMillis: 2000, memoryBytes: 4 * GIB };
  const ofGpu = { cpuMillis: 96_000, memoryBytes: 768 * GIB };
  const taint = (key: string, effect: 'NoSchedule' | 'PreferNoSchedule' = 'NoSchedule') => ({
    taints: [{ key, value: '', effect }],
  });
  const terms = [{ expressions: [{ key: CAPACITY_TYPE, operator: 'In' as const, values: ['on-demand'] }], fields: [] }];

  test.each<[string, Partial<PodTemplate>, Partial<NodeRecord>, typeof ofSmall]>([
    ['any pod', {}, {}, ofGpu],
    ['a taint that it does not tolerate', {}, taint('nvidia.com/gpu'), ofSmall],
    [
      'a taint that it tolerates',
      { tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists', value: '', effect: '' }] },
      taint('nvidia.com/gpu'),
      ofGpu,
    ],
    ['a taint that keeps nobody off', {}, taint('nvidia.com/gpu', 'PreferNoSchedule'), ofGpu],
    ['a taint of a condition that passes', {}, taint('node.kubernetes.io/memory-pressure'), ofGpu],
    ['a cordon', {}, { unschedulable: true, ...taint('node.kubernetes.io/unschedulable') }, ofGpu],
    ['its node selector', { nodeSelector: { [CAPACITY_TYPE]: 'on-demand' } }, {}, ofSmall],
    ['its required affinity', { requiredNodeTerms: terms }, {}, ofSmall],
    ['a selector of the large one', { nodeSelector: { [CAPACITY_TYPE]: 'spot' } }, {}, ofGpu],
    ['no node at all: one is yet to be made', { nodeSelector: { pool: 'none' } }, {}, ofGpu],
  ])('%s', (_, template, changes, expected) => {
    for (const nodes of [
      [small(), gpu(changes)],
      [gpu(changes), small()],
    ])
      expect(mostOf(largestNode(view(nodes))([own('web-1', template)]))).toEqual(expected);
  });

  test('pods of both sides have one size, which has to fit the smaller nodes too', () => {
    const spot = own('web-1', { nodeSelector: { [CAPACITY_TYPE]: 'spot' } });
    const onDemand = own('web-2', { nodeSelector: { [CAPACITY_TYPE]: 'on-demand' } });
    const most = largestNode(view([gpu(), small()]));
    expect(mostOf(most([spot, onDemand]))).toEqual(ofSmall);
    expect(mostOf(most([onDemand, spot]))).toEqual(ofSmall);
    expect(mostOf(most([spot]))).toEqual(ofGpu);
  });

  test('pods that have ended or are going say nothing, nor does one of a DaemonSet, which is for one node', () => {
    const nodeSelector = { [CAPACITY_TYPE]: 'on-demand' };
    const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'uid-agent' };
    const most = largestNode(view([gpu(), small()]));
    for (const changes of [{ phase: 'Succeeded' as const }, { deletingAt: 1 }, { owner }])
      expect(mostOf(most([own('web-1', { nodeSelector }, changes)]))).toEqual(ofGpu);
  });

  test('nodes are looked at once for all templates with the same selector and tolerations, as those of resized pods', () => {
    let looks = 0;
    const node: NodeRecord = {
      ...small(),
      get taints() {
        looks++;
        return [];
      },
    };
    const { nodeSelector, tolerations } = aTemplate({ nodeSelector: { [CAPACITY_TYPE]: 'on-demand' } });
    const most = largestNode(view([node]));
    const looksFor = (name: string, requests: PodTemplate['requests'], template: Partial<PodTemplate> = {}): number => {
      const before = looks;
      expect(mostOf(most([own(name, { nodeSelector, tolerations, requests, ...template })]))).toEqual(ofSmall);
      return looks - before;
    };
    expect(looksFor('web-1', { cpuMillis: 100, memoryBytes: GIB })).toBeGreaterThan(0);
    expect(looksFor('web-2', { cpuMillis: 200, memoryBytes: GIB })).toBe(0);
    expect(looksFor('web-3', { cpuMillis: 200, memoryBytes: GIB }, { requiredNodeTerms: terms })).toBeGreaterThan(0);
  });

  test('without any node nothing is known, whatever the pods ask for', () => {
    expect(largestNode(view([]))([own('web-1', { nodeSelector: { pool: 'a' } })])).toBeUndefined();
  });
});

describe('CPU and memory of one node', () => {
  const room = largestNode(view([big, wide]))([]);

  test.each([
    [0, 8000],
    [16 * GIB, 8000],
    [16 * GIB + 1, 4000],
    [64 * GIB, 4000],
    // It fits nowhere as it is.
    [65 * GIB, 8000],
  ])('beside %i bytes there are %i millicores', (memoryBytes, cpuMillis) => {
    expect(room?.cpuBeside(memoryBytes)).toBe(cpuMillis);
  });

  test.each([
    [4000, 64 * GIB],
    [4001, 16 * GIB],
    [8000, 16 * GIB],
    [8001, 64 * GIB],
  ])('beside %i millicores there are %i bytes', (cpuMillis, memoryBytes) => {
    expect(room?.memoryBeside(cpuMillis)).toBe(memoryBytes);
  });

  test('for pods of several kinds, each has to fit', () => {
    const kinds = nodeRoom([
      [
        { cpuMillis: 8, memoryBytes: 1 },
        { cpuMillis: 4, memoryBytes: 9 },
      ],
      [{ cpuMillis: 6, memoryBytes: 6 }],
    ]);
    expect([kinds.cpuBeside(1), kinds.cpuBeside(5), kinds.memoryBeside(1), kinds.memoryBeside(5)]).toEqual([
      6, 4, 6, 1,
    ]);
  });

  test('for any nodes, memory beside the CPU of now and then CPU beside that are there on one node', () => {
    const amount = fc.integer({ min: 1, max: 50 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(amount, amount), { minLength: 1, maxLength: 8 }),
        amount,
        amount,
        (sizes, cpu, memory) => {
          const nodes = sizes.map(([cpuMillis, memoryBytes], index) =>
            aNode(`n${index}`, undefined, { allocatable: { cpuMillis, memoryBytes } }),
          );
          const most = largestNode(view(nodes))([]);
          const fits = (c: number, m: number): boolean =>
            nodes.some(({ allocatable }) => allocatable.cpuMillis >= c && allocatable.memoryBytes >= m);
          if (most === undefined || !fits(cpu, memory)) return;
          const moreMemory = most.memoryBeside(cpu);
          expect(moreMemory).toBeGreaterThanOrEqual(memory);
          expect(fits(cpu, moreMemory)).toBe(true);
          expect(fits(most.cpuBeside(moreMemory), moreMemory)).toBe(true);
        },
      ),
    );
  });
});
