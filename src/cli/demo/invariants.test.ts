import { describe, expect, test } from 'vitest';
import type { PdbRecord } from '../../model/records.ts';
import type { PlannedWorkload } from '../fleet.ts';
import { planObjects } from '../testing/plan-shop.ts';
import { type Manifest, shopCluster, workload } from '../testing/shop.ts';
import { createInvariantMonitor, type Invariant, type InvariantMonitor, type Observation } from './invariants.ts';

/** `web` with two replicas, half on spot, one at least on on-demand. */
function web(
  pods: readonly string[],
  change: (object: Manifest, index: number) => Manifest = (object) => object,
): PlannedWorkload[] {
  const objects = workload({
    name: 'web',
    annotations: { 'spot-percentage': '50', 'min-on-demand': '1' },
    pods,
    replicas: 2,
  });
  return planObjects([...shopCluster(), ...objects.map(change)]);
}

const terminating = (object: Manifest): Manifest => {
  const { metadata } = object;
  if (object['kind'] !== 'Pod' || typeof metadata !== 'object') return object;
  return { ...object, metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:01Z' } };
};

function withPercentage(object: Manifest, percent: string, floor = '1'): Manifest {
  const { metadata } = object;
  if (object['kind'] !== 'Deployment' || typeof metadata !== 'object') return object;
  const annotations = { 'spotalis.io/spot-percentage': percent, 'spotalis.io/min-on-demand': floor };
  return { ...object, metadata: { ...metadata, annotations } };
}

const settledWeb = web(['spot-1', 'od-1']);
const budget: PdbRecord = {
  namespace: 'shop',
  name: 'web',
  uid: 'p',
  selector: undefined,
  disruptionsAllowed: 0,
  observed: true,
  currentHealthy: 2,
  desiredHealthy: 1,
  alwaysAllowUnhealthy: false,
};
const seen = (
  workloads: readonly PlannedWorkload[],
  evictions = 0,
  budgets: readonly PdbRecord[] = [budget],
): Observation => ({ workloads, budgets, evictions, losesNodes: false });

const violated = (monitor: InvariantMonitor): Invariant[] =>
  monitor.results().flatMap(({ invariant, violation }) => (violation === undefined ? [] : [invariant]));

/** After a first rest, a chapter in which `moves` pods are to change sides: somebody else's workload came under management. */
function monitorAtRest(moves = 0, losesNodes = false): InvariantMonitor {
  const monitor = createInvariantMonitor();
  monitor.observe(seen(settledWeb));
  monitor.judgeRest(seen(settledWeb));
  monitor.begin({ losesNodes });
  const pods = Array<string>(moves * 2).fill('od-1');
  const annotations = { 'spot-percentage': '50' };
  if (moves > 0)
    monitor.observe(seen(planObjects([...shopCluster(), ...workload({ name: 'other', annotations, pods })])));
  return monitor;
}

describe('createInvariantMonitor', () => {
  test('nothing is broken where all is well, and each result says how often it was checked', () => {
    const monitor = monitorAtRest(1);
    monitor.observe(seen(settledWeb, 1));
    expect(violated(monitor)).toEqual([]);
    expect(Object.fromEntries(monitor.results().map(({ invariant, checks }) => [invariant, checks]))).toEqual({
      burst: 1,
      bounded: 2,
      paced: 2,
      floor: 2,
      budget: 2,
      exact: 1,
    });
  });

  test('burst: an eviction where pods are only created', () => {
    const monitor = createInvariantMonitor();
    monitor.observe(seen([]));
    monitor.observe(seen([], 1));
    expect(violated(monitor)).toEqual(['burst']);
  });

  test('evictions of a chapter before do not count', () => {
    const monitor = monitorAtRest(2);
    monitor.observe(seen(settledWeb, 2));
    monitor.begin({ losesNodes: false });
    monitor.observe(seen(settledWeb, 2));
    expect(violated(monitor)).toEqual([]);
  });

  test('bounded: more evictions than pods had to move', () => {
    const monitor = monitorAtRest(2);
    monitor.observe(seen(settledWeb, 3));
    expect(violated(monitor)).toEqual(['bounded']);
  });

  test('paced: two pods of a workload going at once', () => {
    const monitor = monitorAtRest(2);
    monitor.observe(seen(web(['spot-1', 'od-1'], terminating), 0, []));
    expect(violated(monitor)).toContain('paced');
  });

  test('floor: a ready on-demand pod too few, once the workload was whole', () => {
    const monitor = createInvariantMonitor();
    monitor.observe(seen(web(['spot-1'])));
    expect(violated(monitor)).toEqual([]);
    monitor.observe(seen(settledWeb));
    monitor.observe(seen(web(['spot-1', 'spot-2'])));
    expect(monitor.results().find(({ invariant }) => invariant === 'floor')?.violation).toBe(
      'Deployment/shop/web: 0 ready on on-demand, 1 needed',
    );
  });

  test.each([
    ['a budget that is short', budget, 0, ['budget']],
    ['one that is met', budget, 1, []],
    ['one whose status lags behind', { ...budget, observed: false }, 0, []],
  ] as const)('budget: %s', (_name, record, currentHealthy, expected) => {
    const monitor = monitorAtRest(1);
    monitor.observe(seen(settledWeb, 0, [{ ...record, currentHealthy }]));
    expect(violated(monitor)).toEqual(expected);
  });

  test.each([
    ['workloads only grow', 0, false],
    ['nodes are lost', 1, true],
  ])('budgets are not judged where %s: nobody evicts', (_name, moves, losesNodes) => {
    const monitor = monitorAtRest(moves, losesNodes);
    monitor.observe(seen(settledWeb, 0, [{ ...budget, currentHealthy: 0 }]));
    expect(violated(monitor)).toEqual([]);
  });

  test('a node that goes late, with pods on it, leaves budgets short without an eviction: until all are whole again', () => {
    const monitor = monitorAtRest(1);
    const short = { ...budget, currentHealthy: 0 };
    monitor.observe({ ...seen(settledWeb, 0, [short]), losesNodes: true });
    monitor.observe(seen(settledWeb, 0, [short]));
    expect(violated(monitor)).toEqual([]);
    monitor.judgeRest(seen(settledWeb));
    monitor.begin({ losesNodes: false });
    monitor.observe(
      seen(
        web(['spot-1', 'od-1'], (object) => withPercentage(object, '0')),
        0,
        [short],
      ),
    );
    expect(violated(monitor)).toEqual(['budget']);
  });

  test('a machine that stood still is an excuse to the end of the chapter, and not for its end', () => {
    const monitor = monitorAtRest(1);
    monitor.excuse();
    monitor.observe(seen(web(['spot-1', 'spot-2'], terminating), 9, [{ ...budget, currentHealthy: 0 }]));
    expect(violated(monitor)).toEqual([]);
    monitor.judgeRest(seen(web(['spot-1', 'spot-2'])));
    expect(violated(monitor)).toEqual(['exact']);
    monitor.begin({ losesNodes: false });
    monitor.observe(seen(settledWeb, 10));
    expect(violated(monitor)).toEqual(['burst', 'exact']);
  });

  test('exact: a wrong mix or a pod that is not ready, judged at rest only', () => {
    const monitor = createInvariantMonitor();
    monitor.observe(seen(web(['spot-1', 'spot-2'])));
    expect(violated(monitor)).toEqual([]);
    monitor.judgeRest(seen(web(['spot-1', 'spot-2'])));
    expect(monitor.results().find(({ invariant }) => invariant === 'exact')?.violation).toBe(
      'Deployment/shop/web: 2/0 instead of 1/1 (spot/on-demand), 2 of 2 ready',
    );
  });

  test('a changed percentage makes as many evictions due as pods change sides, whoever changed it', () => {
    const changed = web(['spot-1', 'od-1'], (object) => withPercentage(object, '0'));
    const allowed = monitorAtRest();
    allowed.observe(seen(changed, 1));
    expect(violated(allowed)).toEqual([]);
    const tooMany = monitorAtRest();
    tooMany.observe(seen(changed, 2));
    expect(violated(tooMany)).toEqual(['bounded']);
  });

  test('a raised floor is not judged before the workload was whole under it', () => {
    const monitor = monitorAtRest();
    const raised = (object: Manifest): Manifest => withPercentage(object, '50', '2');
    monitor.observe(seen(web(['spot-1', 'od-1'], raised)));
    expect(violated(monitor)).toEqual([]);
    monitor.observe(seen(web(['od-1', 'od-2'], raised)));
    monitor.observe(seen(web(['spot-1', 'od-1'], raised)));
    expect(violated(monitor)).toEqual(['floor']);
  });

  test('the first violation is kept', () => {
    const monitor = createInvariantMonitor();
    for (const evictions of [0, 1, 5]) monitor.observe(seen([], evictions));
    expect(monitor.results()[0]).toEqual({
      invariant: 'burst',
      checks: 3,
      violation: '1 eviction, 0 expected at most',
    });
  });
});
