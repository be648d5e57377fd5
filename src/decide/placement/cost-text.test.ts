import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { WorkloadCost } from './cost.ts';
import { costChange, costLines, fleetCostLines, hourly, monthly, savedPercent } from './cost-text.ts';

const known: WorkloadCost = {
  pods: 4,
  pricedPods: 4,
  actual: 0.22,
  allOnDemand: 0.4,
  perReplica: { spot: 0.04, onDemand: 0.1 },
  target: 0.22,
  floor: { replicas: 0, cost: 0 },
  unknown: [],
};
const lines = (changes: Partial<WorkloadCost>) => costLines({ ...known, ...changes });

test.each([
  [0, '$0.0000/h'],
  [0.0412, '$0.0412/h'],
  [1, '$1.00/h'],
  [1234.5, '$1234.50/h'],
  [-0.06, '-$0.0600/h'],
  [-0.000_001, '$0.0000/h'],
])('%d is %s', (cost, text) => {
  expect(hourly(cost)).toBe(text);
});

test('a month has 730 hours', () => {
  expect(monthly(1)).toBe('about $730 a month');
  expect(monthly(0.01)).toBe('about $7.30 a month');
  expect(monthly(-1)).toBe('about -$730 a month');
});

test('a saving of nothing has no percentage', () => {
  expect(savedPercent({ actual: 0.22, allOnDemand: 0.4 })).toBe('45 %');
  expect(savedPercent({ actual: 0, allOnDemand: 0 })).toBeUndefined();
});

describe('costLines', () => {
  test('tells cost, saving and floor', () => {
    expect(costLines(known)).toEqual([
      '$0.2200/h now, about $161 a month; all on on-demand $0.4000/h: the mix saves $0.1800/h (45 %)',
      'the floor costs nothing: the percentage leaves as many on on-demand',
    ]);
  });

  test('a floor that keeps replicas from spot has its price', () => {
    expect(lines({ floor: { replicas: 2, cost: 0.12 } }).at(-1)).toBe(
      'the floor keeps 2 replicas from spot for $0.1200/h, about $88 a month',
    );
    expect(lines({ floor: { replicas: 1, cost: undefined } }).at(-1)).toBe(
      'the floor keeps 1 replica from spot at an unknown cost',
    );
    expect(lines({ floor: undefined })).toHaveLength(1);
  });

  test('a mix on dear spot is not called a saving', () => {
    expect(lines({ actual: 0.5 })[0]).toMatch(/: the mix costs \$0\.1000\/h more$/);
  });

  test('a target that differs is told', () => {
    expect(lines({ target: 0.18 })[1]).toBe('$0.1800/h once every replica is on the side of its slot');
  });

  test('a target of which only a part is known is not set beside the cost of that part', () => {
    expect(lines({ target: 0.18, pods: 5, unknown: ['x'] })[1]).not.toContain('once every replica');
  });

  test.each([
    [{ pods: 4, pricedPods: 2 }, 'unknown for 2 of 4 pods: the prices file does not tell a; b'],
    [{ pods: 4, pricedPods: 0 }, 'unknown for all 4 pods: the prices file does not tell a; b'],
    [{ pods: 1, pricedPods: 0 }, 'unknown for its pod: the prices file does not tell a; b'],
  ])('%j: %s', (changes, expected) => {
    expect(lines({ ...changes, unknown: ['a', 'b'] }).at(-1)).toBe(expected);
  });

  test('where nothing is priced no figure is given', () => {
    expect(lines({ pricedPods: 0, actual: 0, allOnDemand: 0, unknown: ['a'] })).toHaveLength(1);
  });

  test('pods that request nothing, and no pods at all', () => {
    expect(lines({ actual: 0, allOnDemand: 0, target: 0 })[0]).toMatch(
      /^nothing by this rule: its pods request neither/,
    );
    expect(lines({ pods: 0, pricedPods: 0, actual: 0, allOnDemand: 0 })).toEqual(['nothing now: no pod is on a node']);
  });

  test('for any figures no sentence shows a number that is none', () => {
    const amount = fc.double({ min: 0, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(
        fc.nat(9),
        fc.nat(9),
        amount,
        amount,
        fc.option(amount, { nil: undefined }),
        (a, b, actual, all, target) => {
          const cost = { ...known, pods: Math.max(a, b), pricedPods: Math.min(a, b), actual, allOnDemand: all, target };
          for (const line of costLines(cost)) expect(line).not.toMatch(/NaN|undefined|Infinity|e[+-]\d/);
        },
      ),
    );
  });
});

test('the fleet in sentences', () => {
  const fleet = { pods: 4, pricedPods: 3, actual: 0.3, allOnDemand: 0.4, target: 0.2, floors: 0.05, unknown: ['a'] };
  expect(fleetCostLines(fleet)).toEqual([
    '$0.3000/h now, about $219 a month; all on on-demand $0.4000/h: the mix saves $0.1000/h (25 %)',
    '$0.2000/h, about $146 a month, once every replica is on the side of its slot',
    'the floors cost $0.0500/h, about $37 a month',
    'unknown for 1 of 4 pods: the prices file does not tell a',
  ]);
  expect(fleetCostLines({ ...fleet, pricedPods: 4, target: 0.3, floors: 0, unknown: [] })).toHaveLength(1);
});

test.each<[Partial<WorkloadCost>, string]>([
  [{}, '$0.2200/h now, $0.2200/h after'],
  [{ target: undefined }, '$0.2200/h now, not known after'],
  [{ pricedPods: 3, unknown: ['a', 'b'] }, '$0.2200/h now, not known after (without 1 of 4 pods: a; b)'],
  [{ pricedPods: 0, unknown: ['a'] }, 'unknown: the prices file does not tell a'],
  [{ pods: 0, pricedPods: 0, actual: 0, target: undefined }, '$0.0000/h now, not known after'],
])('before and after of %j', (changes, expected) => {
  expect(costChange({ ...known, ...changes })).toBe(expected);
});
