import { describe, expect, test } from 'vitest';
import { findRoom, fitsUnsteered, hasRoomFor, type Room, type RoomRequest } from './find-room.ts';
import { nodeClassProfile } from './node-profiles.ts';
import type { NodeRecord, PodRecord, Taint, VolumeClaimRecord } from './records.ts';
import { createSides } from './sides.ts';
import { createSnapshot } from './snapshot.ts';
import {
  aDeployment,
  aNode,
  aPod,
  aReplicaSet,
  aSpreadRule,
  aTemplate,
  aVolumeClaim,
  GIB,
  inZone,
} from './testing/records.ts';

const replicaSet = aReplicaSet(aDeployment());
const taint = (key: string, effect: Taint['effect'] = 'NoSchedule', value = ''): Taint => ({ key, value, effect });

interface Cluster {
  readonly nodes?: readonly NodeRecord[];
  readonly pods?: readonly PodRecord[];
  readonly volumeClaims?: readonly VolumeClaimRecord[];
  readonly provisionable?: boolean;
  readonly isPartial?: boolean;
}

function roomIn(cluster: Cluster, request: Partial<RoomRequest> = {}): Room {
  const { nodes = [aNode('o1', 'on-demand')], pods = [], volumeClaims = [], provisionable = false } = cluster;
  const view = createSnapshot({ nodes, pods, volumeClaims, isPartial: cluster.isPartial === true });
  const nodeClasses = nodeClassProfile(['karpenter'], {
    provisionable: { spot: provisionable, onDemand: provisionable },
  });
  const asked: RoomRequest = {
    namespace: 'shop',
    template: aTemplate(),
    side: 'on-demand',
    claims: [],
    siblingNodes: new Set(),
    ...request,
  };
  return findRoom(view, createSides(nodeClasses), asked);
}

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
});

describe('findRoom', () => {
  test('names a node of the side that has room', () => {
    expect(roomIn({})).toEqual({ kind: 'node', node: 'o1' });
  });

  test('looks at the side asked for only', () => {
    expect(roomIn({ nodes: [aNode('s', 'spot'), aNode('x', undefined)] })).toEqual({
      kind: 'none',
      detail: 'there is no on-demand node',
      isVolume: false,
    });
  });

  const labelled = (zone: string): NodeRecord =>
    aNode('o', 'on-demand', { labels: { 'karpenter.sh/capacity-type': 'on-demand', zone } });

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
      { nodes: [labelled('b')] },
      { template: aTemplate({ requiredNodeTerms: [inZone('a')] }) },
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

  describe('hazard H12: volumes', () => {
    const claims = ['data'];
    const bound = aVolumeClaim('data', { requiredNodeTerms: [inZone('a')] });

    test('a node in the zone of the volume', () => {
      expect(roomIn({ nodes: [labelled('a')], volumeClaims: [bound] }, { claims })).toMatchObject({ kind: 'node' });
    });

    test('none in that zone', () => {
      expect(roomIn({ nodes: [labelled('b')], volumeClaims: [bound] }, { claims })).toMatchObject({
        kind: 'none',
        isVolume: true,
      });
    });

    test('a claim that is not bound goes where the pod goes', () => {
      const volumeClaims = [aVolumeClaim('data', { bound: false })];
      expect(roomIn({ volumeClaims }, { claims })).toMatchObject({ kind: 'node' });
    });

    test('an autoscaler may make a node in the zone of the volume, but never one that has the disk of another', () => {
      const at = (key: string) =>
        aVolumeClaim('data', {
          requiredNodeTerms: [{ expressions: [{ key, operator: 'In', values: ['a'] }], fields: [] }],
        });
      const roomFor = (key: string, nodes: readonly NodeRecord[] = []) =>
        roomIn({ nodes, volumeClaims: [at(key)], provisionable: true }, { claims });
      expect(roomFor('zone')).toEqual({ kind: 'provisionable' });
      expect(roomFor('kubernetes.io/hostname')).toEqual({
        kind: 'none',
        detail: 'there is no on-demand node',
        isVolume: true,
      });
      expect(roomFor('kubernetes.io/hostname', [labelled('a')])).toMatchObject({
        kind: 'none',
        detail: expect.stringContaining('outside the reach of the pod’s volume'),
      });
      const host = aNode('o', 'on-demand');
      const itself = { ...host, labels: { ...host.labels, 'kubernetes.io/hostname': 'a' } };
      expect(roomFor('kubernetes.io/hostname', [itself])).toEqual({ kind: 'node', node: 'o' });
    });

    test('a claim that is not known proves nothing, not even with an autoscaler', () => {
      expect(roomIn({ provisionable: true }, { claims })).toMatchObject({ kind: 'none', isVolume: true });
    });

    test('where a volume that is not known can be reached is not known either, also with an autoscaler', () => {
      const volumeClaims = [aVolumeClaim('data', { requiredNodeTerms: [] })];
      expect(roomIn({ volumeClaims, provisionable: true }, { claims: ['data'] })).toEqual({
        kind: 'none',
        detail: 'where a volume of the pod can be reached is not known',
        isVolume: true,
      });
    });
  });

  test('where pods of other namespaces are not seen no node is known to have room', () => {
    expect(roomIn({ isPartial: true })).toMatchObject({
      kind: 'none',
      detail: expect.stringContaining('what they have left is not known'),
    });
    expect(roomIn({ isPartial: true, provisionable: true })).toEqual({ kind: 'provisionable' });
  });

  describe('hazard H20: pods with affinity, anti-affinity or spread rules', () => {
    const siblingNodes = new Set(['o1']);

    const withCompany = (topologyKey: string, kind: 'together' | 'apart') =>
      aTemplate({
        hasPodPlacementRules: true,
        company: [{ kind, topologyKey, selector: { matchLabels: { app: 'web' } }, isOwn: true, isElsewhere: false }],
      });

    test('apart on machines: a node with a pod of the same workload will not do, another does', () => {
      const template = withCompany('kubernetes.io/hostname', 'apart');
      expect(roomIn({}, { template, siblingNodes })).toMatchObject({
        kind: 'none',
        detail: '1 where its affinity or anti-affinity to other pods may keep it from',
      });
      const nodes = [aNode('o1', 'on-demand'), aNode('o2', 'on-demand')];
      expect(roomIn({ nodes }, { template, siblingNodes })).toEqual({ kind: 'node', node: 'o2' });
    });

    test('together in a zone: a node that runs a sibling will do', () => {
      const nodes = [{ ...labelled('a'), name: 'o1' }];
      expect(roomIn({ nodes }, { template: withCompany('zone', 'together'), siblingNodes })).toMatchObject({
        kind: 'node',
      });
    });

    test('a node in a zone that its anti-affinity forbids proves nothing, whether or not a sibling is on it', () => {
      const ask = (nodes: readonly NodeRecord[], provisionable = false) =>
        roomIn({ nodes, provisionable }, { template: withCompany('zone', 'apart'), siblingNodes });
      const sibling = { ...labelled('a'), name: 'o1' };
      const next = { ...labelled('a'), name: 'o2' };
      const away = { ...labelled('b'), name: 'o3' };
      expect(ask([sibling, next])).toMatchObject({ kind: 'none', detail: expect.stringContaining('affinity') });
      expect(ask([sibling, next], true)).toEqual({ kind: 'provisionable' });
      expect(ask([sibling, next, away])).toEqual({ kind: 'node', node: 'o3' });
    });

    test('pods that must share a machine find none on another, nor on one that an autoscaler could make', () => {
      const nodes = [aNode('o1', 'spot'), aNode('o2', 'on-demand')];
      const ask = (provisionable: boolean, known = nodes) =>
        roomIn(
          { nodes: known, provisionable },
          { template: withCompany('kubernetes.io/hostname', 'together'), siblingNodes },
        );
      expect(ask(false)).toMatchObject({ kind: 'none', detail: expect.stringContaining('affinity') });
      expect(ask(true)).toMatchObject({ kind: 'none' });
      expect(ask(false, [aNode('o1', 'on-demand')])).toEqual({ kind: 'node', node: 'o1' });
    });

    describe('spread over zones', () => {
      const spread = [aSpreadRule({ topologyKey: 'zone' })];
      const template = aTemplate({ spread });
      const [full, even, third] = ['a', 'b', 'c'].map((zone) => ({ ...labelled(zone), name: `o-${zone}` }));
      if (full === undefined || even === undefined || third === undefined) throw new Error('no zones');
      const crowded = { ...even, maxPods: 1 };
      const leaving = aPod(replicaSet, 'leaving', { nodeName: 's' });
      const at = (nodeName: string, name: string) => aPod(replicaSet, name, { nodeName, template });
      const pods = [at('o-a', 'p1'), at('o-a', 'p2'), at('o-b', 'p3')];

      test('goes where fewest are; where they are, there may be no room', () => {
        expect(roomIn({ nodes: [full, even], pods }, { template, leaving })).toEqual({ kind: 'node', node: 'o-b' });
        expect(roomIn({ nodes: [full, crowded], pods }, { template, leaving })).toMatchObject({
          kind: 'none',
          detail: '1 where its topology spread constraints allow no further pod, 1 without room for its requests',
        });
      });

      test('is not asked of a pod that comes in nobody’s place', () => {
        expect(roomIn({ nodes: [full, crowded], pods }, { template })).toEqual({ kind: 'node', node: 'o-a' });
      });

      test('an autoscaler may make a node in the zone that has fewest', () => {
        const provisionable = true;
        expect(roomIn({ nodes: [full, crowded], pods, provisionable }, { template, leaving })).toEqual({
          kind: 'provisionable',
        });
        expect(roomIn({ nodes: [], pods, provisionable }, { template, leaving })).toEqual({ kind: 'provisionable' });
      });

      test('but whether it makes any in a zone that has none yet is not known', () => {
        const asked = {
          template: aTemplate({ spread: [aSpreadRule({ topologyKey: 'zone', minDomains: 3 })] }),
          leaving,
        };
        const provisionable = true;
        expect(roomIn({ nodes: [full, even], pods, provisionable }, asked)).toEqual({
          kind: 'none',
          detail:
            '2 where its topology spread constraints allow no further pod; a new one would have to be where none is yet, for its topology spread constraints',
          isVolume: false,
        });
        expect(roomIn({ nodes: [full, even, third], pods, provisionable }, asked)).toEqual({
          kind: 'node',
          node: 'o-c',
        });
      });
    });

    test('without such rules siblings do not matter', () => {
      expect(roomIn({}, { siblingNodes })).toMatchObject({ kind: 'node' });
    });
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
      { template: aTemplate({ company: [apart] }), siblingNodes: new Set(['x']) },
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
