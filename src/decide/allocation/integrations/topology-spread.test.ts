import { describe, expect, test } from 'vitest';
import { medianBound, spreadFactor } from './topology-spread.ts';

describe('weight by spread', () => {
  test.each([
    ['no constraints', [], 1],
    ['even', [{ replicasHere: 2, averageReplicas: 2 }], 1],
    ['few here: each serves more', [{ replicasHere: 9, averageReplicas: 10 }], 10 / 9],
    ['very few here: bounded', [{ replicasHere: 1, averageReplicas: 4 }], 1.25],
    ['many here: bounded', [{ replicasHere: 4, averageReplicas: 1 }], 0.8],
    [
      'two constraints multiply within the bounds',
      [
        { replicasHere: 10, averageReplicas: 11 },
        { replicasHere: 10, averageReplicas: 9 },
      ],
      0.99,
    ],
    ['a domain without replicas says nothing', [{ replicasHere: 0, averageReplicas: 3 }], 1],
  ])('integration 7: %s', (_name, facts, factor) => {
    expect(spreadFactor(facts)).toBeCloseTo(factor, 9);
  });
});

describe('bound by the median of the replicas', () => {
  test.each([
    ['half again the median', 301, [{ layer: 'annotation', reason: 'TopologySpread', max: 452 }]],
    ['no median', undefined, []],
  ])('integration 7: %s', (_name, median, wanted) => {
    expect(medianBound(median)).toEqual(wanted);
  });
});
