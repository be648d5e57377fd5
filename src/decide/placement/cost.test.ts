import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PriceTable } from '../../api/prices.ts';
import type { NodeRecord, PodRecord, WorkloadRecord } from '../../model/records.ts';
import { createSides } from '../../model/sides.ts';
import { createSnapshot } from '../../model/snapshot.ts';
import {
  aDeployment,
  aNamespace,
  aNode,
  aPod,
  aReplicaSet,
  aTemplate,
  CAPACITY_TYPE,
  GIB,
  NOON,
  someSettings,
} from '../../model/testing/records.ts';
import { costOf, shareOf, sumCosts } from './cost.ts';
import type { SlotRule } from './slots.ts';

const sides = createSides(someSettings().nodeClasses);
const prices: PriceTable = {
  instanceTypes: {
    big: { onDemand: 1, spotDiscount: 60 },
    dear: { onDemand: 2, spot: 1 },
    steady: { onDemand: 1 },
  },
};
const rule = (spotPercentage: number, floor: number): SlotRule => ({
  spotPercentage,
  minOnDemand: { kind: 'count', count: floor },
  rounding: 'ceil',
  basis: 'total',
});

function node(name: string, capacityType: string | undefined, instanceType?: string): NodeRecord {
  const labels = {
    ...(capacityType !== undefined && { [CAPACITY_TYPE]: capacityType }),
    ...(instanceType !== undefined && { 'node.kubernetes.io/instance-type': instanceType }),
  };
  return aNode(name, undefined, { labels, allocatable: { cpuMillis: 10_000, memoryBytes: 10 * GIB } });
}

const nodes = [
  node('spot', 'spot', 'big'),
  node('od', 'on-demand', 'big'),
  node('spot-dear', 'spot', 'dear'),
  node('od-steady', 'on-demand', 'steady'),
  node('spot-steady', 'spot', 'steady'),
  node('od-new', 'on-demand', 'new'),
  node('od-unlabelled', 'on-demand'),
  node('odd', 'lunar', 'big'),
];

/** A workload of one pod a name, each a tenth of its node: $0.10 of a `big` on demand, $0.04 on spot. */
function cost(podNodes: readonly string[], slotRule?: SlotRule, changes: Partial<PodRecord> = {}, table = prices) {
  const workload: WorkloadRecord = aDeployment({ replicas: podNodes.length });
  const replicaSet = aReplicaSet(workload);
  const template = aTemplate({ requests: { cpuMillis: 1000, memoryBytes: GIB } });
  const pods = podNodes.map((name, index) =>
    aPod(replicaSet, `p${index}`, { template, nodeName: name === '' ? undefined : name, ...changes }),
  );
  const view = createSnapshot({
    namespaces: [aNamespace()],
    nodes,
    workloads: [workload],
    replicaSets: [replicaSet],
    pods,
  });
  return costOf({ view, sides, workload, rule: slotRule, prices: table });
}

describe('shareOf', () => {
  test.each([
    [1000, GIB, 0.1],
    [5000, 0, 0.25],
    [0, 5 * GIB, 0.25],
    [20_000, 20 * GIB, 1],
    [0, 0, 0],
  ])('%d m and %d B of 10 cores and 10 GiB bear %d of the price', (cpuMillis, memoryBytes, expected) => {
    expect(shareOf({ cpuMillis, memoryBytes }, { cpuMillis: 10_000, memoryBytes: 10 * GIB })).toBeCloseTo(expected, 10);
  });

  test('a node without room has no shares', () => {
    expect(shareOf({ cpuMillis: 1, memoryBytes: 1 }, { cpuMillis: 0, memoryBytes: GIB })).toBeUndefined();
    expect(shareOf({ cpuMillis: 1, memoryBytes: 1 }, { cpuMillis: 1, memoryBytes: 0 })).toBeUndefined();
  });

  test('for any pods that fit the node their parts are at most the whole', () => {
    const requests = fc.record({ cpuMillis: fc.nat(10_000), memoryBytes: fc.nat(10_000) });
    fc.assert(
      fc.property(fc.array(requests, { maxLength: 8, minLength: 1 }), (pods) => {
        const sum = (key: 'cpuMillis' | 'memoryBytes') => pods.reduce((total, pod) => total + pod[key], 0) || 1;
        const allocatable = { cpuMillis: sum('cpuMillis'), memoryBytes: sum('memoryBytes') };
        const parts = pods.reduce((total, pod) => total + (shareOf(pod, allocatable) ?? 0), 0);
        expect(parts).toBeLessThanOrEqual(1 + 1e-9);
      }),
    );
  });
});

describe('costOf', () => {
  test('what the pods cost, and the same all on demand', () => {
    const found = cost(['spot', 'spot', 'spot', 'od']);
    expect(found).toMatchObject({ pods: 4, pricedPods: 4, unknown: [], target: undefined, floor: undefined });
    expect(found.actual).toBeCloseTo(0.22, 10);
    expect(found.allOnDemand).toBeCloseTo(0.4, 10);
    expect(found.perReplica.spot).toBeCloseTo(0.04, 10);
    expect(found.perReplica.onDemand).toBeCloseTo(0.1, 10);
  });

  test('a floor costs the difference of the sides for each replica it keeps from spot', () => {
    const found = cost(['spot', 'od', 'od', 'od'], rule(75, 3));
    expect(found.floor?.replicas).toBe(2);
    expect(found.floor?.cost).toBeCloseTo(0.12, 10);
  });

  test('a floor below what the percentage leaves costs nothing', () => {
    expect(cost(['spot', 'spot', 'od', 'od'], rule(50, 1)).floor).toEqual({ replicas: 0, cost: 0 });
  });

  test('the target at the prices of where the pods run now', () => {
    const found = cost(['od', 'od', 'od', 'od'], rule(50, 0));
    expect(found.actual).toBeCloseTo(0.4, 10);
    expect(found.target).toBeCloseTo(0.28, 10);
  });

  test('a side that has pods is priced by them, not by the other side', () => {
    const found = cost(['spot-dear', 'od'], rule(50, 0));
    expect(found.perReplica.spot).toBeCloseTo(0.1, 10);
    expect(found.allOnDemand).toBeCloseTo(0.3, 10);
  });

  test('from spot alone the on-demand price of the same type is known', () => {
    expect(cost(['spot', 'spot'], rule(100, 1)).perReplica.onDemand).toBeCloseTo(0.1, 10);
  });

  test('a spot price that nobody gave leaves the target and the floor unknown', () => {
    const found = cost(['od-steady', 'od-steady'], rule(100, 1));
    expect(found).toMatchObject({ pricedPods: 2, perReplica: { spot: undefined }, target: undefined });
    expect(found.floor).toEqual({ replicas: 1, cost: undefined });
  });

  test('what the file does not tell is named once and counted nowhere', () => {
    const found = cost(['spot-steady', 'spot-steady', 'od-new', 'od-unlabelled', 'odd', 'od']);
    expect(found).toMatchObject({ pods: 6, pricedPods: 1 });
    expect(found.actual).toBeCloseTo(0.1, 10);
    expect(found.unknown).toEqual([
      'steady on spot',
      'new on on-demand',
      'a node without the label node.kubernetes.io/instance-type',
      'the class of node odd',
    ]);
  });

  test('pods without a node, ended and terminating ones cost nothing', () => {
    expect(cost(['', 'gone'])).toMatchObject({ pods: 0, actual: 0, unknown: [] });
    expect(cost(['od'], undefined, { deletingAt: NOON })).toMatchObject({ pods: 0 });
    expect(cost(['od'], undefined, { phase: 'Failed' })).toMatchObject({ pods: 0 });
  });

  test('for any mix that is already on target the cost after is the cost now', () => {
    const place = fc.constantFrom('spot', 'spot-dear');
    fc.assert(
      fc.property(fc.array(place, { maxLength: 6 }), fc.nat(6), fc.nat(6), (spotPods, onDemandPods, floor) => {
        const podNodes = [...spotPods, ...Array.from({ length: onDemandPods }, () => 'od')];
        fc.pre(podNodes.length > 0);
        const percentage = Math.floor((100 * spotPods.length) / podNodes.length);
        const found = cost(podNodes, rule(percentage, Math.min(floor, onDemandPods)));
        const isOnTarget = Math.ceil((podNodes.length * percentage) / 100) === spotPods.length;
        fc.pre(isOnTarget);
        expect(found.target).toBeCloseTo(found.actual, 9);
        expect(found.allOnDemand).toBeGreaterThanOrEqual(found.actual);
      }),
    );
  });
});

describe('sumCosts', () => {
  test('adds up workloads, and names each unknown thing once', () => {
    const found = sumCosts([
      cost(['spot', 'od'], rule(50, 0)),
      cost(['od-new'], rule(0, 0)),
      cost(['od-new'], rule(0, 0)),
    ]);
    expect(found).toMatchObject({ pods: 4, pricedPods: 2, target: undefined, unknown: ['new on on-demand'] });
    expect(found.actual).toBeCloseTo(0.14, 10);
    expect(found.allOnDemand).toBeCloseTo(0.2, 10);
  });

  test('the target of all, where it is known of each', () => {
    const found = sumCosts([cost(['od', 'od'], rule(50, 0)), cost(['spot', 'od'], rule(100, 1))]);
    expect(found.target).toBeCloseTo(0.28, 10);
    expect(found.floors).toBeCloseTo(0.06, 10);
  });

  test('of nothing', () => {
    expect(sumCosts([])).toEqual({
      pods: 0,
      pricedPods: 0,
      actual: 0,
      allOnDemand: 0,
      target: 0,
      floors: 0,
      unknown: [],
    });
  });
});
