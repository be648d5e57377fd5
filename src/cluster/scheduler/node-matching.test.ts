import { describe, expect, test } from 'vitest';
import type { Node } from '../../api/core.ts';
import {
  admitsNode,
  type NodeSelectorTerm,
  type Taint,
  type Toleration,
  tolerates,
  untoleratedTaints,
} from './node-matching.ts';

const node: Node = { metadata: { name: 'n1', labels: { zone: 'a', cpus: '8', spot: 'true' } } };
const withTerms = (...nodeSelectorTerms: NodeSelectorTerm[]) => ({
  containers: [],
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});
const expression = (key: string, operator: string, ...values: string[]): NodeSelectorTerm => ({
  matchExpressions: [{ key, operator, values }],
});

describe('admitsNode', () => {
  test.each<[string, Parameters<typeof admitsNode>[0], boolean]>([
    ['no constraint', { containers: [] }, true],
    ['a matching selector', { containers: [], nodeSelector: { zone: 'a' } }, true],
    ['another value', { containers: [], nodeSelector: { zone: 'b' } }, false],
    ['a missing label', { containers: [], nodeSelector: { gpu: 'yes' } }, false],
    ['In', withTerms(expression('zone', 'In', 'b', 'a')), true],
    ['NotIn', withTerms(expression('zone', 'NotIn', 'a')), false],
    ['NotIn on a missing label', withTerms(expression('gpu', 'NotIn', 'yes')), true],
    ['Exists', withTerms(expression('spot', 'Exists')), true],
    ['DoesNotExist', withTerms(expression('spot', 'DoesNotExist')), false],
    ['Gt', withTerms(expression('cpus', 'Gt', '4')), true],
    ['Lt', withTerms(expression('cpus', 'Lt', '8')), false],
    ['one of several terms', withTerms(expression('zone', 'In', 'x'), expression('zone', 'In', 'a')), true],
    [
      'all expressions of a term',
      withTerms({
        matchExpressions: [
          { key: 'zone', operator: 'In', values: ['a'] },
          { key: 'spot', operator: 'DoesNotExist' },
        ],
      }),
      false,
    ],
    ['an empty term', withTerms({}), false],
    ['no terms', withTerms(), false],
    [
      'its name as a field',
      withTerms({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] }),
      true,
    ],
    [
      'another name as a field',
      withTerms({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n2'] }] }),
      false,
    ],
    [
      'selector and affinity together',
      { ...withTerms(expression('zone', 'In', 'a')), nodeSelector: { zone: 'b' } },
      false,
    ],
  ])('%s', (_, spec, expected) => {
    expect(admitsNode(spec, node)).toBe(expected);
  });
});

describe('tolerates', () => {
  const taint: Taint = { key: 'k', value: 'v', effect: 'NoSchedule' };
  test.each<[string, Toleration, boolean]>([
    ['the same key, value and effect', { key: 'k', operator: 'Equal', value: 'v', effect: 'NoSchedule' }, true],
    ['Equal by default', { key: 'k', value: 'v' }, true],
    ['another value', { key: 'k', value: 'w' }, false],
    ['another effect', { key: 'k', value: 'v', effect: 'NoExecute' }, false],
    ['any value with Exists', { key: 'k', operator: 'Exists' }, true],
    ['everything with an empty key and Exists', { operator: 'Exists' }, true],
    ['nothing with an empty key and Equal', { operator: 'Equal', value: 'v' }, false],
    ['another key', { key: 'x', operator: 'Exists' }, false],
  ])('%s', (_, toleration, expected) => {
    expect(tolerates(toleration, taint)).toBe(expected);
  });
  test('a taint without value equals an empty value', () => {
    expect(tolerates({ key: 'k', value: '' }, { key: 'k', effect: 'NoSchedule' })).toBe(true);
  });
});

test('only taints of the asked effects count', () => {
  const taints: Taint[] = [
    { key: 'a', effect: 'PreferNoSchedule' },
    { key: 'b', effect: 'NoExecute' },
  ];
  expect(untoleratedTaints(taints, undefined, ['NoSchedule', 'NoExecute'])).toEqual([taints[1]]);
  expect(untoleratedTaints(undefined, undefined, ['NoSchedule'])).toEqual([]);
});
