/** Where a pod finds room beside others: its affinity to them, and how it is spread among them. */
import { describe, expect, test } from 'vitest';
import type { NodeRecord } from './records.ts';
import { aDeployment, aNode, aPod, aReplicaSet, aSpreadRule, aTemplate } from './testing/records.ts';
import { inZoneOf, roomIn } from './testing/room.ts';

const replicaSet = aReplicaSet(aDeployment());

describe('hazard H20: pods with affinity, anti-affinity or spread rules', () => {
  const siblingNodes = new Set(['o1']);

  const withRule = (topologyKey: string, kind: 'together' | 'apart') =>
    aTemplate({
      hasPodPlacementRules: true,
      podAffinity: [{ kind, topologyKey, selector: { matchLabels: { app: 'web' } }, isOwn: true, isElsewhere: false }],
    });

  test('apart on machines: a node with a pod of the same workload will not do, another does', () => {
    const template = withRule('kubernetes.io/hostname', 'apart');
    expect(roomIn({}, { template, siblingNodes })).toMatchObject({
      kind: 'none',
      detail: '1 where its affinity or anti-affinity to other pods may keep it from',
    });
    const nodes = [aNode('o1', 'on-demand'), aNode('o2', 'on-demand')];
    expect(roomIn({ nodes }, { template, siblingNodes })).toEqual({ kind: 'node', node: 'o2' });
  });

  test('together in a zone: a node that runs a sibling will do', () => {
    const nodes = [inZoneOf('a', 'o1')];
    expect(roomIn({ nodes }, { template: withRule('zone', 'together'), siblingNodes })).toMatchObject({
      kind: 'node',
    });
  });

  test('a node in a zone that its anti-affinity forbids proves nothing, whether or not a sibling is on it', () => {
    const ask = (nodes: readonly NodeRecord[], provisionable = false) =>
      roomIn({ nodes, provisionable }, { template: withRule('zone', 'apart'), siblingNodes });
    const sibling = inZoneOf('a', 'o1');
    const next = inZoneOf('a', 'o2');
    const away = inZoneOf('b', 'o3');
    expect(ask([sibling, next])).toMatchObject({ kind: 'none', detail: expect.stringContaining('affinity') });
    expect(ask([sibling, next], true)).toEqual({ kind: 'provisionable' });
    expect(ask([sibling, next, away])).toEqual({ kind: 'node', node: 'o3' });
  });

  test('pods that must share a machine find none on another, nor on one that an autoscaler could make', () => {
    const nodes = [aNode('o1', 'spot'), aNode('o2', 'on-demand')];
    const ask = (provisionable: boolean, known = nodes) =>
      roomIn(
        { nodes: known, provisionable },
        { template: withRule('kubernetes.io/hostname', 'together'), siblingNodes },
      );
    expect(ask(false)).toMatchObject({ kind: 'none', detail: expect.stringContaining('affinity') });
    expect(ask(true)).toMatchObject({ kind: 'none' });
    expect(ask(false, [aNode('o1', 'on-demand')])).toEqual({ kind: 'node', node: 'o1' });
  });

  describe('spread over zones', () => {
    const spread = [aSpreadRule({ topologyKey: 'zone' })];
    const template = aTemplate({ spread });
    const [full, even, third] = ['a', 'b', 'c'].map((zone) => inZoneOf(zone, `o-${zone}`));
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
