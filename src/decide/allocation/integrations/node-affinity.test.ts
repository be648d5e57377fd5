import { describe, expect, test } from 'vitest';
import type { NodeSelectorTerm } from '../../../model/records.ts';
import { type AffinityFact, affinityFactor } from './node-affinity.ts';

const node = { name: 'node-1', labels: { disk: 'ssd', zone: 'a' } };
const term = (key: string, value: string): NodeSelectorTerm => ({
  expressions: [{ key, operator: 'In', values: [value] }],
  fields: [],
});
const prefers = (...rows: readonly (readonly [number, NodeSelectorTerm])[]): AffinityFact => ({
  required: undefined,
  preferred: rows.map(([weight, each]) => ({ weight, term: each })),
});

describe('weight by affinity', () => {
  test.each<[string, AffinityFact, number, boolean]>([
    ['none', prefers(), 1, false],
    ['all preferences met', prefers([10, term('disk', 'ssd')]), 1.05, false],
    ['none met', prefers([10, term('disk', 'hdd')]), 0.95, false],
    ['a quarter met', prefers([25, term('zone', 'a')], [75, term('disk', 'hdd')]), 0.975, false],
    ['required and still there', { required: [term('zone', 'a')], preferred: [] }, 1, false],
    ['required and no longer there', { required: [term('zone', 'b')], preferred: [] }, 0.9, true],
    [
      'one of two required terms is enough',
      { required: [term('zone', 'b'), term('disk', 'ssd')], preferred: [] },
      1,
      false,
    ],
    [
      'required lost, preference met',
      { required: [term('zone', 'b')], preferred: [{ weight: 1, term: term('disk', 'ssd') }] },
      0.945,
      true,
    ],
  ])('integration 8: %s', (_name, fact, factor, isRequiredBroken) => {
    const found = affinityFactor(fact, node);
    expect(found.factor).toBeCloseTo(factor, 9);
    expect(found.isRequiredBroken).toBe(isRequiredBroken);
  });
});
