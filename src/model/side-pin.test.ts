import { describe, expect, test } from 'vitest';
import { nodeClassProfile } from './node-profiles.ts';
import type { NodeSelectorTerm, SelectorExpression } from './records.ts';
import { createPinReader, isEmptyTerm, type NodeConstraints, type PinnedSide, withoutKeys } from './side-pin.ts';

const KEY = 'karpenter.sh/capacity-type';
const free: NodeConstraints = { nodeSelector: {}, requiredNodeTerms: undefined };
const term = (...expressions: SelectorExpression[]): NodeSelectorTerm => ({ expressions, fields: [] });
const is = (operator: SelectorExpression['operator'], ...values: string[]): SelectorExpression => ({
  key: KEY,
  operator,
  values,
});
const zone = (...values: string[]): SelectorExpression => ({
  key: 'topology.kubernetes.io/zone',
  operator: 'In',
  values,
});
const withTerms = (...terms: NodeSelectorTerm[]): NodeConstraints => ({ ...free, requiredNodeTerms: terms });

describe('createPinReader on Karpenter labels', () => {
  const read = createPinReader(nodeClassProfile(['karpenter']));

  test.each<[string, NodeConstraints, PinnedSide]>([
    ['nothing', free, 'free'],
    ['another label', { ...free, nodeSelector: { disktype: 'ssd' } }, 'free'],
    ['a node selector for spot', { ...free, nodeSelector: { [KEY]: 'spot' } }, 'spot'],
    ['a node selector for on-demand', { ...free, nodeSelector: { [KEY]: 'on-demand' } }, 'on-demand'],
    ['a node selector for reserved', { ...free, nodeSelector: { [KEY]: 'reserved' } }, 'on-demand'],
    ['a node selector for an unheard-of type', { ...free, nodeSelector: { [KEY]: 'lunar' } }, 'neither'],
    ['affinity In spot', withTerms(term(is('In', 'spot'))), 'spot'],
    ['affinity NotIn spot', withTerms(term(is('NotIn', 'spot'))), 'on-demand'],
    ['affinity In both', withTerms(term(is('In', 'on-demand', 'spot'))), 'free'],
    ['affinity Exists', withTerms(term(is('Exists'))), 'free'],
    ['affinity DoesNotExist', withTerms(term(is('DoesNotExist'))), 'neither'],
    ['affinity in a zone', withTerms(term(zone('a'))), 'free'],
    [
      'ORed terms for both sides',
      withTerms(term(is('In', 'spot'), zone('a')), term(is('In', 'on-demand'), zone('b'))),
      'free',
    ],
    [
      'ORed terms all for spot',
      withTerms(term(is('In', 'spot'), zone('a')), term(is('In', 'spot'), zone('b'))),
      'spot',
    ],
    ['an empty term beside one for spot', withTerms(term(), term(is('In', 'spot'))), 'spot'],
    ['only an empty term', withTerms(term()), 'neither'],
    [
      'selector and affinity that disagree',
      { nodeSelector: { [KEY]: 'spot' }, requiredNodeTerms: [term(is('In', 'on-demand'))] },
      'neither',
    ],
    [
      'a field beside a free expression',
      withTerms({ expressions: [], fields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] }),
      'free',
    ],
  ])('case 26: hazard H18: %s', (_, constraints, expected) => {
    expect(read(constraints)).toBe(expected);
  });
});

describe('createPinReader on labels that only mark spot', () => {
  const read = createPinReader(nodeClassProfile(['gke']));
  const spotKey = 'cloud.google.com/gke-spot';

  test.each<[string, NodeConstraints, PinnedSide]>([
    ['nothing', free, 'free'],
    ['the spot label', { ...free, nodeSelector: { [spotKey]: 'true' } }, 'spot'],
    [
      'the provisioning label',
      { ...free, nodeSelector: { 'cloud.google.com/gke-provisioning': 'standard' } },
      'on-demand',
    ],
    // Its nodes are spot, but not those that our pin of spot names.
    [
      'the label of preemptible nodes',
      { ...free, nodeSelector: { 'cloud.google.com/gke-preemptible': 'true' } },
      'spot',
    ],
    // Preemptible nodes would satisfy it, but our pin of spot names the excluded label.
    [
      'the absence of the spot label',
      withTerms(term({ key: spotKey, operator: 'DoesNotExist', values: [] })),
      'on-demand',
    ],
  ])('%s', (_, constraints, expected) => {
    expect(read(constraints)).toBe(expected);
  });
});

test('own selectors with Exists and NotIn are understood', () => {
  const read = createPinReader(
    nodeClassProfile([], {
      spot: [{ matchExpressions: [{ key: 'spot', operator: 'Exists' }] }],
      onDemand: [{ matchExpressions: [{ key: 'spot', operator: 'DoesNotExist' }] }],
    }),
  );
  expect(read({ ...free, nodeSelector: { spot: 'true' } })).toBe('spot');
  expect(read(withTerms(term({ key: 'spot', operator: 'DoesNotExist', values: [] })))).toBe('on-demand');
});

describe('of a side that several pools make up', () => {
  const pools = (...names: string[]) => names.map((name) => ({ matchLabels: { pool: name } }));
  const inPools = (...values: string[]) => withTerms(term({ key: 'pool', operator: 'In', values }));
  const read = createPinReader(
    nodeClassProfile([], { spot: pools('spot-a', 'spot-b'), onDemand: pools('base-a', 'base-b') }),
  );

  test.each<[string, NodeConstraints, PinnedSide]>([
    ['one is enough', inPools('spot-a'), 'spot'],
    ['one of either leaves both open', inPools('spot-b', 'base-a'), 'free'],
    ['all but one are enough', withTerms(term({ key: 'pool', operator: 'NotIn', values: ['base-a'] })), 'free'],
    ['none of either', inPools('other'), 'neither'],
  ])('%s', (_, constraints, expected) => {
    expect(read(constraints)).toBe(expected);
  });
});

test('an answer is remembered for the same object and right for another', () => {
  const read = createPinReader(nodeClassProfile(['karpenter']));
  const constraints: NodeConstraints = { ...free, nodeSelector: { [KEY]: 'spot' } };
  expect(read(constraints)).toBe('spot');
  expect(read(constraints)).toBe('spot');
  expect(read({ ...constraints, nodeSelector: { [KEY]: 'on-demand' } })).toBe('on-demand');
});

test('isEmptyTerm looks at expressions and fields', () => {
  expect(isEmptyTerm(term())).toBe(true);
  expect(isEmptyTerm(term(zone('a')))).toBe(false);
  expect(isEmptyTerm({ expressions: [], fields: [zone('a')] })).toBe(false);
});

test.each<[string, NodeConstraints, NodeConstraints]>([
  ['nothing', free, free],
  [
    'a pin beside others',
    { nodeSelector: { [KEY]: 'spot', disk: 'ssd' }, requiredNodeTerms: [term(is('In', 'spot'), zone('a'))] },
    { nodeSelector: { disk: 'ssd' }, requiredNodeTerms: [term(zone('a'))] },
  ],
  ['terms of which one says nothing else', withTerms(term(is('In', 'spot')), term(zone('a'))), free],
  ['an empty term, which no node meets', withTerms(term(), term(zone('a'))), withTerms(term(zone('a')))],
  ['only an empty term', withTerms(term()), withTerms()],
])('without what they say of the sides constraints ask for the rest: %s', (_, constraints, expected) => {
  expect(withoutKeys(constraints, new Set([KEY]))).toEqual(expected);
});
