import { describe, expect, test } from 'vitest';
import { InvalidValueError } from '../lib/errors.ts';
import type { LabelSelector } from './core.ts';
import {
  compileLabelSelector,
  isLabelValue,
  isQualifiedName,
  type Labels,
  matcherOf,
  type SelectorOperator,
  validateLabelSelector,
} from './label-selector.ts';

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

describe('conditions on labels of nodes, which know an order', () => {
  test.each<[string, SelectorOperator, readonly string[], boolean]>([
    ['cores', 'Gt', ['7'], true],
    ['cores', 'Gt', ['8'], false],
    ['cores', 'Lt', ['9'], true],
    ['cores', 'Lt', ['8'], false],
    ['cores', 'Lt', ['many'], false],
    ['cores', 'Lt', ['-1'], false],
    ['cores', 'Lt', ['9007199254740993'], true],
    ['cores', 'Gt', ['1', '2'], false],
    ['cores', 'Gt', [], false],
    ['app', 'Gt', ['1'], false],
    ['zone', 'Gt', ['1'], false],
    ['zone', 'Lt', ['1'], false],
  ])('%s %s %j: %s', (key, operator, values, expected) => {
    expect(matcherOf([{ key, operator, values }])(web)).toBe(expected);
  });
});
