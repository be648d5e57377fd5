import { describe, expect, test } from 'vitest';
import { findRoom, fitsUnsteered, hasRoomFor, type RoomRequest } from './find-room.ts';
import { nodeClassProfile } from './node-profiles.ts';
import type { NodeRecord, PodRecord, Taint } from './records.ts';
import { createSides } from './sides.ts';
import { createSnapshot } from './snapshot.ts';
import { aDeployment, aNode, aPod, aReplicaSet, aSpreadRule, aTemplate, GIB, inZone, NOON } from './testing/records.ts';
import { type Cluster, inZoneOf, roomIn } from './testing/room.ts';

const replicaSet = aReplicaSet(aDeployment());
const taint = (key: string, effect: Taint['effect'] = 'NoSchedule', value = ''): Taint => ({ key, value, effect });

describe('hasRoomFor', () => {
  const node = aNode('n', 'spot', { allocatable: { cpuMillis: 1000, memoryBytes: GIB }, maxPods: 2 });
  const use = (cpuMillis: number, memoryBytes: number): PodRecord =>
    aPod(replicaSet, 'p', { nodeName: 'n', template: aTemplate({ requests: { cpuMillis, memoryBytes } }) });
  const asked = aTemplate({ requests: { cpuMillis: 400, memoryBytes: GIB / 4 } });

  test.each<[string, readonly PodRecord[], boolean]>([
    ['empty', [], true],
    ['exactly enough left', [use(600, (GIB * 3) / 4)], true],
    ['one millicore short', [use(601, 0)], false],
    ['one byte short', [use(0, (GIB * 3) / 4 + 1)], false],
    ['as many pods as it takes', [use(0, 0), { ...use(0, 0), name: 'q' }], false],
    ['a pod that has ended', [{ ...use(1000, GIB), phase: 'Succeeded' }], true],
  ])('%s', (_, pods, expected) => {
    expect(hasRoomFor(createSnapshot({ nodes: [node], pods }), node, asked)).toBe(expected);
  });

  test('devices, and how many pods it takes, are shared with those to come', () => {
    const two = aNode('n', 'spot', { maxPods: 2, extraAllocatable: { 'nvidia.com/gpu': 2 } });
    const view = createSnapshot({ nodes: [two] });
    const [one, both] = [
      aTemplate({ extraRequests: { 'nvidia.com/gpu': 1 } }),
      aTemplate({ extraRequests: { 'nvidia.com/gpu': 2 } }),
    ];
    expect(hasRoomFor(view, two, one, [one])).toBe(true);
    expect(hasRoomFor(view, two, one, [both])).toBe(false);
    expect(hasRoomFor(view, two, aTemplate(), [both])).toBe(true);
    expect(hasRoomFor(view, two, aTemplate(), [aTemplate(), aTemplate()])).toBe(false);
  });

  test('a node of which not all pods are seen has none as far as is known', () => {
    expect(hasRoomFor(createSnapshot({ nodes: [node], isPartial: true }), node, asked)).toBe(false);
  });
});

const wantsGpu = (count: number) => aTemplate({ extraRequests: { 'nvidia.com/gpu': count } });
const gpuNode = (count: number) => aNode('g', 'on-demand', { extraAllocatable: { 'nvidia.com/gpu': count } });

describe('findRoom', () => {
  test('names a node of the side that has room', () => {
    expect(roomIn({})).toEqual({ kind: 'node', node: 'o1' });
  });

  test('leaves as many places to those that come first', () => {
    const nodes = ['o1', 'o2'].map((name) =>
      aNode(name, 'on-demand', { allocatable: { cpuMillis: 1000, memoryBytes: GIB }, maxPods: 3 }),
    );
    const roomAfter = (ahead: number, cpuMillis: number, memoryBytes = 0) => {
      const room = roomIn({ nodes }, { template: aTemplate({ requests: { cpuMillis, memoryBytes } }), ahead });
      return room.kind === 'node' ? room.node : [room.kind, room.kind === 'none' && room.isAwaited];
    };
    expect([0, 1, 2, 3, 4].map((ahead) => roomAfter(ahead, 500))).toEqual(['o1', 'o1', 'o2', 'o2', ['none', true]]);
    expect([1, 2].map((ahead) => roomAfter(ahead, 0, GIB))).toEqual(['o2', ['none', true]]);
    expect([2, 3, 5, 6].map((ahead) => roomAfter(ahead, 0))).toEqual(['o1', 'o2', 'o2', ['none', true]]);
    expect(roomIn({ nodes, provisionable: true }, { ahead: 99 }).kind).toBe('provisionable');
  });

  test('of devices no more than one place a node is counted on', () => {
    const nodes = ['o1', 'o2'].map((name) => ({ ...gpuNode(4), name }));
    const template = wantsGpu(1);
    expect([0, 1, 2].map((ahead) => roomIn({ nodes }, { template, ahead }).kind)).toEqual(['node', 'node', 'none']);
  });

  test('looks at the side asked for only', () => {
    expect(roomIn({ nodes: [aNode('s', 'spot'), aNode('x', undefined)] })).toEqual({
      kind: 'none',
      detail: 'there is no on-demand node',
      isVolume: false,
    });
  });

  test.each<[string, Cluster, Partial<RoomRequest>, string]>([
    [
      'a node that is not ready',
      { nodes: [aNode('o', 'on-demand', { ready: false })] },
      {},
      '1 not ready, cordoned or leaving',
    ],
    [
      'bug 20: a node with a taint',
      { nodes: [aNode('o', 'on-demand', { taints: [taint('dedicated')] })] },
      {},
      '1 tainted',
    ],
    [
      'a node of another disk type',
      {},
      { template: aTemplate({ nodeSelector: { disk: 'ssd' } }) },
      '1 excluded by the node selector',
    ],
    [
      'a node in another zone',
      { nodes: [inZoneOf('b')] },
      { template: aTemplate({ requiredNodeTerms: [inZone('a')] }) },
      '1 excluded by',
    ],
    [
      'a node outside of affinity that others added',
      { nodes: [inZoneOf('b')] },
      { template: aTemplate({ requiredNodeTerms: [inZone('a', 'b')] }), besideTerms: [inZone('a')] },
      '1 excluded by',
    ],
    [
      'too little CPU',
      {},
      { template: aTemplate({ requests: { cpuMillis: 64_001, memoryBytes: 0 } }) },
      '1 without room for its requests',
    ],
    [
      'too little memory',
      {},
      { template: aTemplate({ requests: { cpuMillis: 0, memoryBytes: 257 * GIB } }) },
      '1 without room',
    ],
    ['no device', {}, { template: wantsGpu(1) }, '1 without room for its requests'],
    ['too few devices', { nodes: [gpuNode(1)] }, { template: wantsGpu(2) }, '1 without room'],
    [
      'devices that others have',
      {
        nodes: [gpuNode(2)],
        pods: [
          aPod(replicaSet, 'running', { nodeName: 'g', template: wantsGpu(1) }),
          aPod(replicaSet, 'ending', { nodeName: 'g', template: wantsGpu(1), deletingAt: NOON }),
        ],
      },
      { template: wantsGpu(1) },
      '1 without room',
    ],
    ['no place for another pod', { nodes: [aNode('o', 'on-demand', { maxPods: 0 })] }, {}, '1 without room'],
    [
      'the template excludes the side',
      {},
      { template: aTemplate({ nodeSelector: { 'karpenter.sh/capacity-type': 'spot' } }) },
      'the pod template itself excludes on-demand nodes',
    ],
  ])('bug 19: no room: %s', (_, cluster, request, detail) => {
    const room = roomIn(cluster, request);
    expect(room).toMatchObject({ kind: 'none', isVolume: false });
    expect(room.kind === 'none' && room.detail).toContain(detail);
  });

  test('a node with a device left takes a pod that wants one; those that have ended hold none', () => {
    const pods = [
      aPod(replicaSet, 'running', { nodeName: 'g', template: wantsGpu(1) }),
      aPod(replicaSet, 'plain', { nodeName: 'g' }),
      aPod(replicaSet, 'ended', { nodeName: 'g', template: wantsGpu(1), phase: 'Failed' }),
    ];
    expect(roomIn({ nodes: [gpuNode(2)], pods }, { template: wantsGpu(1) })).toEqual({ kind: 'node', node: 'g' });
  });

  test('which nodes have devices that are claimed is not known: who has its own does not go for them', () => {
    const template = aTemplate({ claimsDevices: true });
    const leaving = aPod(replicaSet, 'p', { nodeName: 's' });
    const detail = '1 where the devices that it claims may be missing';
    expect(roomIn({}, { template, leaving })).toMatchObject({ kind: 'none', detail });
    expect(roomIn({ nodes: [], provisionable: true }, { template, leaving })).toMatchObject({ kind: 'none' });
    // Who runs nowhere loses nothing by trying.
    expect(roomIn({}, { template, leaving: { ...leaving, nodeName: undefined } })).toMatchObject({ kind: 'node' });
    expect(roomIn({}, { template })).toMatchObject({ kind: 'node' });
  });

  test('reserved nodes are on-demand, but the pin written into pods does not reach them', () => {
    expect(roomIn({ nodes: [aNode('r', 'reserved')] })).toMatchObject({ kind: 'none' });
  });

  test('counts each kind of obstacle', () => {
    const nodes = [
      aNode('a', 'on-demand', { ready: false }),
      aNode('b', 'on-demand', { ready: false }),
      aNode('c', 'on-demand', { maxPods: 0 }),
    ];
    expect(roomIn({ nodes })).toMatchObject({
      detail: '2 not ready, cordoned or leaving, 1 without room for its requests',
    });
  });

  test('the toleration that admission adds is taken into account', () => {
    const label = { 'kubernetes.azure.com/scalesetpriority': 'spot' };
    const node = aNode('s', undefined, {
      labels: label,
      taints: [taint('kubernetes.azure.com/scalesetpriority', 'NoSchedule', 'spot')],
    });
    const request = {
      namespace: 'shop',
      template: aTemplate(),
      side: 'spot' as const,
      claims: [],
      siblingNodes: new Set<string>(),
    };
    expect(findRoom(createSnapshot({ nodes: [node] }), createSides(nodeClassProfile(['aks'])), request)).toMatchObject({
      kind: 'node',
    });
  });

  test('bug 4: an autoscaler can make a node where none has room', () => {
    expect(roomIn({ nodes: [], provisionable: true })).toEqual({ kind: 'provisionable' });
    expect(roomIn({ provisionable: true })).toEqual({ kind: 'node', node: 'o1' });
  });

  test('but not one that the template excludes', () => {
    const template = aTemplate({ nodeSelector: { 'karpenter.sh/capacity-type': 'spot' } });
    expect(roomIn({ nodes: [], provisionable: true }, { template })).toMatchObject({ kind: 'none' });
  });

  test('where pods of other namespaces are not seen no node is known to have room', () => {
    expect(roomIn({ isPartial: true })).toMatchObject({
      kind: 'none',
      detail: expect.stringContaining('what they have left is not known'),
    });
    expect(roomIn({ isPartial: true, provisionable: true })).toEqual({ kind: 'provisionable' });
  });
});

describe('fitsUnsteered', () => {
  const request = { namespace: 'shop', template: aTemplate(), claims: [], siblingNodes: new Set<string>() };
  const fits = (node: NodeRecord, changes: Partial<RoomRequest> = {}) =>
    fitsUnsteered(createSnapshot({ nodes: [node] }), node, { ...request, ...changes });
  const hostname = 'kubernetes.io/hostname';
  const apart = { kind: 'apart', topologyKey: hostname, selector: {}, isOwn: true, isElsewhere: false } as const;

  test.each<[string, NodeRecord, Partial<RoomRequest>, boolean]>([
    ['a node of no side', aNode('x', undefined), {}, true],
    ['one without room', aNode('x', undefined, { maxPods: 0 }), {}, false],
    ['one with a taint', aNode('x', undefined, { taints: [taint('dedicated')] }), {}, false],
    ['one of another zone', aNode('x', undefined), { template: aTemplate({ nodeSelector: { zone: 'a' } }) }, false],
    [
      'one that runs a sibling it keeps away from',
      aNode('x', undefined),
      { template: aTemplate({ podAffinity: [apart] }), siblingNodes: new Set(['x']) },
      false,
    ],
    [
      'one that is in no domain it is to be spread over',
      aNode('x', undefined),
      { template: aTemplate({ spread: [aSpreadRule({ topologyKey: 'zone' })] }), leaving: aPod(replicaSet, 'p') },
      false,
    ],
  ])('%s: %s', (_, node, changes, expected) => {
    expect(fits(node, changes)).toBe(expected);
  });
});
