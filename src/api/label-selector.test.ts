import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidValueError } from '../lib/errors.ts';
import type { LabelSelector } from './core.ts';
import {
  compileLabelSelector,
  isLabelValue,
  isQualifiedName,
  type Labels,
  matcherOf,
  validateLabelSelector,
} from './label-selector.ts';
import { matchesNodeSelectorTerms, type NodeSelectorTerm } from './label-selector-node.ts';
import { formatLabelSelector, formatRequirements, parseLabelQuery } from './label-selector-query.ts';

const web: Labels = { app: 'web', tier: 'front', cores: '8' };

describe('compileLabelSelector', () => {
  test.each<[string, LabelSelector | undefined, Labels | undefined, boolean]>([
    ['an empty selector matches everything', {}, web, true],
    ['an empty selector matches no labels', {}, undefined, true],
    ['a missing selector matches nothing', undefined, web, false],
    ['equal labels', { matchLabels: { app: 'web', tier: 'front' } }, web, true],
    ['one label differs', { matchLabels: { app: 'web', tier: 'back' } }, web, false],
    ['In', { matchExpressions: [{ key: 'app', operator: 'In', values: ['api', 'web'] }] }, web, true],
    ['In of an absent label', { matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] }, web, false],
    ['NotIn', { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['web'] }] }, web, false],
    ['NotIn of others', { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['api', 'db'] }] }, web, true],
    ['NotIn of an absent label', { matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['a'] }] }, web, true],
    ['Exists', { matchExpressions: [{ key: 'app', operator: 'Exists' }] }, web, true],
    ['Exists of an absent label', { matchExpressions: [{ key: 'zone', operator: 'Exists' }] }, web, false],
    ['DoesNotExist', { matchExpressions: [{ key: 'app', operator: 'DoesNotExist' }] }, web, false],
    ['DoesNotExist of an absent label', { matchExpressions: [{ key: 'zone', operator: 'DoesNotExist' }] }, web, true],
    [
      'labels and expressions together',
      { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'tier', operator: 'In', values: ['back'] }] },
      web,
      false,
    ],
    [
      'a key that is a property of every object',
      { matchExpressions: [{ key: 'toString', operator: 'Exists' }] },
      {},
      false,
    ],
    ['an empty value', { matchLabels: { app: '' } }, { app: '' }, true],
  ])('%s', (_, selector, labels, expected) => {
    expect(compileLabelSelector(selector)(labels)).toBe(expected);
  });

  test.each<[string, LabelSelector, RegExp]>([
    [
      'operator',
      { matchExpressions: [{ key: 'a', operator: 'Like', values: ['x'] }] },
      /operator "Like" of "a" is none of In, NotIn/,
    ],
    ['Gt is for nodes only', { matchExpressions: [{ key: 'a', operator: 'Gt', values: ['1'] }] }, /operator "Gt"/],
    [
      'In without values',
      { matchExpressions: [{ key: 'a', operator: 'In', values: [] }] },
      /In of "a" needs at least one value/,
    ],
    [
      'Exists with values',
      { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['x'] }] },
      /Exists of "a" takes no values/,
    ],
    ['key', { matchLabels: { 'a b': 'x' } }, /"a b" is not a label key/],
    ['value', { matchLabels: { a: 'x y' } }, /"x y" is not a label value/],
  ])('an invalid %s is refused', (_, selector, message) => {
    expect(() => compileLabelSelector(selector)).toThrow(InvalidValueError);
    expect(() => compileLabelSelector(selector)).toThrow(message);
  });

  test.each([null, 1, true, []])('%j is no value of a label', (value) => {
    expect(validateLabelSelector({ matchLabels: { app: value as unknown as string } })).toEqual([
      `${JSON.stringify(value)} is not a label value`,
    ]);
  });

  test('every problem of a selector is told', () => {
    const selector = { matchLabels: { '': 'x y' }, matchExpressions: [{ key: 'a', operator: 'In' }] };
    expect(validateLabelSelector(selector)).toHaveLength(3);
    expect(validateLabelSelector({ matchLabels: { a: 'b' } })).toEqual([]);
  });
});

describe('names and values', () => {
  test.each([
    ['app', true],
    ['app.kubernetes.io/name', true],
    ['A_b-c.d', true],
    ['a'.repeat(63), true],
    ['a'.repeat(64), false],
    ['', false],
    ['-a', false],
    ['a-', false],
    ['/a', false],
    ['x/', false],
    ['a/b/c', false],
    ['UPPER.io/a', false],
    [`${'a'.repeat(253)}/b`, true],
    [`${'a'.repeat(254)}/b`, false],
  ])('key %j: %s', (key, valid) => expect(isQualifiedName(key)).toBe(valid));

  test.each([
    ['', true],
    ['true', true],
    ['v1.2_3-x', true],
    ['a'.repeat(63), true],
    ['a'.repeat(64), false],
    ['0 2 * * *', false],
    ['-x', false],
  ])('value %j: %s', (value, valid) => expect(isLabelValue(value)).toBe(valid));
});

describe('text form', () => {
  test.each([
    ['', web, true],
    ['app=web', web, true],
    ['app==web', web, true],
    ['app = web', web, true],
    ['app!=web', web, false],
    ['zone!=a', web, true],
    ['app in (api, web)', web, true],
    ['app notin (api,web)', web, false],
    ['app notin (api)', web, true],
    ['app!=api', web, true],
    ['cores<8', web, false],
    ['cores>8', web, false],
    ['tier', web, true],
    ['!tier', web, false],
    ['! zone', web, true],
    ['app=web,tier=back', web, false],
    ['app=web, cores>4', web, true],
    ['cores<4', web, false],
    ['zone>4', web, false],
    ['app=', { app: '' }, true],
    ['app in (,x)', { app: '' }, true],
    ['in=web', { in: 'web' }, true],
  ])('%j', (text, labels, expected) => {
    expect(matcherOf(parseLabelQuery(text))(labels)).toBe(expected);
  });

  test.each([
    '=web',
    'app=web,',
    ',',
    'app in web',
    'app in (web',
    'app in (a b)',
    'app web',
    'a b c',
    'app=x y',
    'app>x',
    '!',
    '!a=b',
    '(',
    'a=b=c',
    '-a',
    'a=-',
  ])('%j is refused', (text) => expect(() => parseLabelQuery(text)).toThrow(InvalidValueError));

  test('a selector prints its conditions in the order of the keys', () => {
    expect(
      formatLabelSelector({
        matchLabels: { tier: 'front' },
        matchExpressions: [
          { key: 'app', operator: 'In', values: ['web', 'api'] },
          { key: 'zone', operator: 'NotIn', values: ['a'] },
          { key: 'env', operator: 'NotIn', values: ['qa', 'dev'] },
          { key: 'team', operator: 'Exists' },
          { key: 'old', operator: 'DoesNotExist' },
        ],
      }),
    ).toBe('app in (api,web),env notin (dev,qa),!old,team,tier=front,zone!=a');
    expect(formatLabelSelector({})).toBe('');
  });

  test('for any conditions the text reads back', () => {
    const word = fc.stringMatching(/^[a-z]([a-z0-9.-]{0,6}[a-z0-9])?$/);
    const requirement = fc.oneof(
      fc.record({
        key: word,
        operator: fc.constantFrom('In' as const, 'NotIn' as const),
        values: fc.uniqueArray(word, { minLength: 1, maxLength: 3 }),
      }),
      fc.record({
        key: word,
        operator: fc.constantFrom('Exists' as const, 'DoesNotExist' as const),
        values: fc.constant([]),
      }),
      fc.record({
        key: word,
        operator: fc.constantFrom('Gt' as const, 'Lt' as const),
        values: fc.integer().map((n) => [`${n}`]),
      }),
    );
    fc.assert(
      fc.property(fc.array(requirement, { maxLength: 4 }), (requirements) => {
        const text = formatRequirements(requirements);
        expect(formatRequirements(parseLabelQuery(text))).toBe(text);
      }),
    );
  });
});

describe('node selector terms', () => {
  const node = { name: 'node-1', labels: { 'karpenter.sh/capacity-type': 'spot', cpus: '16' } };
  const expression = (key: string, operator: string, ...values: string[]): NodeSelectorTerm => ({
    matchExpressions: [{ key, operator, values }],
  });

  test.each<[string, NodeSelectorTerm[], boolean]>([
    ['no terms', [], false],
    ['an empty term', [{}], false],
    ['a term with empty lists', [{ matchExpressions: [], matchFields: [] }], false],
    ['an empty term does not spoil the others', [{}, expression('cpus', 'Exists')], true],
    ['terms are ORed', [expression('zone', 'Exists'), expression('cpus', 'In', '16')], true],
    [
      'expressions are ANDed',
      [
        {
          matchExpressions: [
            { key: 'cpus', operator: 'Exists' },
            { key: 'zone', operator: 'Exists' },
          ],
        },
      ],
      false,
    ],
    ['Gt', [expression('cpus', 'Gt', '8')], true],
    ['Gt the same', [expression('cpus', 'Gt', '16')], false],
    ['Lt', [expression('cpus', 'Lt', '17')], true],
    ['Lt the same', [expression('cpus', 'Lt', '16')], false],
    ['Lt of no bound', [expression('cpus', 'Lt', 'many')], false],
    ['Lt below nothing', [expression('cpus', 'Lt', '-1')], false],
    ['NotIn without values', [expression('cpus', 'NotIn')], false],
    ['NotIn of others', [expression('cpus', 'NotIn', '8', '32')], true],
    ['Gt of no number', [expression('karpenter.sh/capacity-type', 'Gt', '1')], false],
    ['Gt with two bounds', [expression('cpus', 'Gt', '1', '2')], false],
    ['Gt beyond the safe integers', [expression('cpus', 'Lt', '9007199254740993')], true],
    ['NotIn', [expression('karpenter.sh/capacity-type', 'NotIn', 'spot')], false],
    ['NotIn of an absent label', [expression('zone', 'NotIn', 'a')], true],
    ['In without values', [expression('cpus', 'In')], false],
    ['an unknown operator', [expression('cpus', 'Near', '16')], false],
    ['the name', [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-1'] }] }], true],
    ['not the name', [{ matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: ['node-1'] }] }], false],
    ['another name', [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-2'] }] }], false],
    ['not another name', [{ matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: ['node-2'] }] }], true],
    [
      'the name with two values',
      [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-1', 'x'] }] }],
      false,
    ],
    ['another field', [{ matchFields: [{ key: 'spec.podCIDR', operator: 'In', values: ['x'] }] }], false],
    [
      'a field operator that is not known',
      [{ matchFields: [{ key: 'metadata.name', operator: 'Exists', values: ['node-1'] }] }],
      false,
    ],
    [
      'field and expression together',
      [
        {
          matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-1'] }],
          matchExpressions: [{ key: 'zone', operator: 'Exists' }],
        },
      ],
      false,
    ],
  ])('%s', (_, terms, expected) => {
    expect(matchesNodeSelectorTerms(terms, node)).toBe(expected);
  });
});
