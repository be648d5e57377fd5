import { describe, expect, test } from 'vitest';
import { judgePodAffinity, needsKnownNode } from './pod-affinity.ts';
import type { PodAffinityRule, PodRecord } from './records.ts';
import { createSnapshot } from './snapshot.ts';
import { aDeployment, aNode, aPod, aReplicaSet, aTemplate } from './testing/records.ts';

const HOSTNAME = 'kubernetes.io/hostname';
const inZone = (name: string, zone?: string) => {
  const node = aNode(name, 'on-demand');
  return { ...node, labels: { ...node.labels, ...(zone !== undefined && { zone }) } };
};
const nodes = { a1: inZone('a1', 'a'), a2: inZone('a2', 'a'), b1: inZone('b1', 'b'), x: inZone('x') };
type Name = keyof typeof nodes;
const replicaSet = aReplicaSet(aDeployment());
const cache = (nodeName: Name, changes: Partial<PodRecord> = {}): PodRecord =>
  aPod(replicaSet, 'cache', { nodeName, template: aTemplate({ labels: { app: 'cache' } }), ...changes });
const rule = (changes: Partial<PodAffinityRule>): PodAffinityRule => ({
  kind: 'together',
  topologyKey: 'zone',
  selector: { matchLabels: { app: 'cache' } },
  isOwn: false,
  isElsewhere: false,
  ...changes,
});

/** The nodes that the rules keep the pod from. */
const barred = (
  podAffinity: readonly PodAffinityRule[],
  siblings: readonly Name[] = [],
  pods: readonly PodRecord[] = [],
  ending: readonly Name[] = [],
) => {
  const view = createSnapshot({ nodes: Object.values(nodes), pods });
  const isBad = judgePodAffinity(view, {
    namespace: 'shop',
    template: { podAffinity },
    siblingNodes: new Set<string>(siblings),
    endingNodes: new Set<string>(ending),
  });
  return Object.values(nodes).flatMap((node) => (isBad(node) ? [node.name] : []));
};

test('without such rules any node will do', () => {
  const request = { namespace: 'shop', template: {}, siblingNodes: new Set(['a1']) };
  expect(judgePodAffinity(createSnapshot({ nodes: [nodes.a1] }), request)(nodes.a1)).toBe(false);
  expect(needsKnownNode(request)).toBe(false);
});

describe('hazard H20: apart from its like', () => {
  const apart = rule({ kind: 'apart', isOwn: true });

  test('the zones of siblings are out; a node of no zone is in none', () => {
    expect(barred([apart], ['a1'])).toEqual(['a1', 'a2']);
    expect(barred([apart], ['a1', 'b1'])).toEqual(['a1', 'a2', 'b1']);
    expect(barred([apart], ['x'])).toEqual([]);
    expect(barred([apart])).toEqual([]);
  });

  test('so are those of pods that are ending: the scheduler counts them until they are gone', () => {
    expect(barred([apart], ['x'], [], ['b1'])).toEqual(['b1']);
  });

  test.each<[string, readonly string[], readonly string[]]>([
    ['about pods of other namespaces alone: siblings are none of them', ['prod'], []],
    ['about its own and others', ['prod', 'shop'], ['a1', 'a2']],
  ])('of a rule %s', (_, namespaces, expected) => {
    expect(barred([rule({ kind: 'apart', isOwn: true, isElsewhere: true, namespaces })], ['a1'])).toEqual(expected);
  });

  test('of a rule about namespaces by their labels, its own is assumed to be among them', () => {
    expect(barred([rule({ kind: 'apart', isOwn: true, isElsewhere: true })], ['a1'])).toEqual(['a1', 'a2']);
  });

  test('of machines, those of siblings are out', () => {
    expect(barred([{ ...apart, topologyKey: HOSTNAME }], ['a1', 'x'])).toEqual(['a1', 'x']);
  });

  test('a new node may be in another zone', () => {
    expect(needsKnownNode({ namespace: 'shop', template: { podAffinity: [apart] }, siblingNodes: new Set() })).toBe(
      false,
    );
  });
});

describe('hazard H20: together with its like', () => {
  const together = rule({ isOwn: true });

  test('only the zones of siblings will do; the first may go anywhere', () => {
    expect(barred([together], ['b1'])).toEqual(['a1', 'a2', 'x']);
    expect(barred([together])).toEqual([]);
  });

  test('one that is ending is none to be together with', () => {
    expect(barred([together], ['b1'], [], ['a1'])).toEqual(['a1', 'a2', 'x']);
  });

  test('on one machine: that of the siblings, told by its name where it has no such label', () => {
    const machine = rule({ isOwn: true, topologyKey: HOSTNAME });
    expect(barred([machine], ['a1'])).toEqual(['a2', 'b1', 'x']);
  });
});

describe('hazard H20: together with strangers', () => {
  test.each<[string, Partial<PodRecord>, readonly Name[]]>([
    ['where one runs', {}, ['b1', 'x']],
    ['one of another namespace is none', { namespace: 'other' }, ['a1', 'a2', 'b1', 'x']],
    ['one that is going is none', { deletingAt: 1 }, ['a1', 'a2', 'b1', 'x']],
    ['one of other labels is none', { template: aTemplate({ labels: { app: 'db' } }) }, ['a1', 'a2', 'b1', 'x']],
  ])('%s', (_, changes, expected) => {
    expect(barred([rule({})], [], [cache('a1', changes)])).toEqual(expected);
  });

  test('on their very machine', () => {
    expect(barred([rule({ topologyKey: HOSTNAME })], [], [cache('a1')])).toEqual(['a2', 'b1', 'x']);
  });

  test('of other namespaces: that cannot be told, so nothing is proved', () => {
    expect(barred([rule({ isElsewhere: true })], [], [cache('a1')])).toEqual(['a1', 'a2', 'b1', 'x']);
  });

  test('of its own namespace, which it lists: as if it listed none', () => {
    const own = { isElsewhere: true, namespaces: ['shop'] };
    expect(barred([rule(own)], [], [cache('a1')])).toEqual(['b1', 'x']);
    expect(barred([rule({ ...own, isOwn: true })], ['a1'])).toEqual(['b1', 'x']);
    expect(barred([rule({ ...own, namespaces: ['shop', 'prod'] })], [], [cache('a1')])).toHaveLength(4);
  });

  test('every rule must hold', () => {
    expect(barred([rule({}), rule({ kind: 'apart', isOwn: true })], ['a1'], [cache('a1')])).toEqual([
      'a1',
      'a2',
      'b1',
      'x',
    ]);
  });
});

describe('whether a new node could do', () => {
  test.each<[string, Partial<PodAffinityRule>, readonly Name[], boolean]>([
    ['in the zone of strangers', {}, [], false],
    ['on their machine', { topologyKey: HOSTNAME }, [], true],
    ['on the machine of its like', { topologyKey: HOSTNAME, isOwn: true }, ['a1'], true],
    ['the first of its like on a machine', { topologyKey: HOSTNAME, isOwn: true }, [], false],
  ])('%s', (_, changes, siblings, expected) => {
    const template = { podAffinity: [rule(changes)] };
    expect(needsKnownNode({ namespace: 'shop', template, siblingNodes: new Set<string>(siblings) })).toBe(expected);
  });
});
