import { describe, expect, test } from 'vitest';
import { admitsNode, matchesNodeTerms, tolerates, toleratesAll } from './node-fit.ts';
import type { NodeSelectorTerm, Taint, Toleration } from './records.ts';
import { aNode, inZone } from './testing/records.ts';

const taint = (key: string, effect: Taint['effect'] = 'NoSchedule', value = ''): Taint => ({ key, value, effect });
const exists = (key: string): Toleration => ({ key, operator: 'Exists', value: '', effect: '' });

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
