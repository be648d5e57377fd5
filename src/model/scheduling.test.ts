import { describe, expect, test } from 'vitest';
import type { NodeSelectorTerm, PodRecord, Taint, Toleration } from './records.ts';
import { admitsNode, hasRoomFor, matchesNodeTerms, tolerates, toleratesAll } from './scheduling.ts';
import { createSnapshot } from './snapshot.ts';
import { aDeployment, aNode, aPod, aReplicaSet, aTemplate, GIB, inZone } from './testing/records.ts';

const replicaSet = aReplicaSet(aDeployment());
const taint = (key: string, effect: Taint['effect'] = 'NoSchedule', value = ''): Taint => ({ key, value, effect });
const exists = (key: string): Toleration => ({ key, operator: 'Exists', value: '', effect: '' });

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

describe('admitsNode and matchesNodeTerms', () => {
  const node = aNode('n1', 'spot', { labels: { zone: 'a', disk: 'ssd' } });

  test('every entry of the node selector must hold', () => {
    expect(admitsNode({ nodeSelector: { zone: 'a', disk: 'ssd' }, requiredNodeTerms: undefined }, node)).toBe(true);
    expect(admitsNode({ nodeSelector: { zone: 'a', disk: 'hdd' }, requiredNodeTerms: undefined }, node)).toBe(false);
  });

  test('selector and terms must both hold', () => {
    expect(admitsNode({ nodeSelector: { zone: 'a' }, requiredNodeTerms: [inZone('b')] }, node)).toBe(false);
  });

  test.each<[string, readonly NodeSelectorTerm[], boolean]>([
    ['one of several terms', [inZone('b'), inZone('a')], true],
    ['none of them', [inZone('b')], false],
    ['no terms', [], false],
    ['an empty term', [{ expressions: [], fields: [] }], false],
    [
      'the name of the node',
      [{ expressions: [], fields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] }],
      true,
    ],
    [
      'the name of another node',
      [{ expressions: [], fields: [{ key: 'metadata.name', operator: 'In', values: ['n2'] }] }],
      false,
    ],
    [
      'an expression and a field that fails',
      [{ ...inZone('a'), fields: [{ key: 'metadata.name', operator: 'NotIn', values: ['n1'] }] }],
      false,
    ],
  ])('%s', (_, terms, expected) => {
    expect(matchesNodeTerms(terms, node)).toBe(expected);
  });
});

describe('tolerates', () => {
  test.each<[Toleration, Taint, boolean]>([
    [exists('a'), taint('a'), true],
    [exists('a'), taint('b'), false],
    [exists(''), taint('anything', 'NoExecute'), true],
    [{ key: 'a', operator: 'Equal', value: 'x', effect: '' }, taint('a', 'NoSchedule', 'x'), true],
    [{ key: 'a', operator: 'Equal', value: 'x', effect: '' }, taint('a', 'NoSchedule', 'y'), false],
    [{ key: 'a', operator: 'Exists', value: '', effect: 'NoExecute' }, taint('a'), false],
    [{ key: '', operator: 'Equal', value: '', effect: '' }, taint('a'), false],
  ])('%j of %j: %s', (toleration, against, expected) => {
    expect(tolerates(toleration, against)).toBe(expected);
  });

  test('all taints must be tolerated, but PreferNoSchedule keeps none off', () => {
    expect(toleratesAll([exists('a')], [taint('a'), taint('b')])).toBe(false);
    expect(toleratesAll([exists('a')], [taint('a'), taint('b', 'PreferNoSchedule')])).toBe(true);
    expect(toleratesAll([], [])).toBe(true);
  });
});
