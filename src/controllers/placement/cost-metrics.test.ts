import { describe, expect, test } from 'vitest';
import type { PriceTable } from '../../api/prices.ts';
import { createMetrics } from '../../lib/metrics.ts';
import type { WorkloadRecord } from '../../model/records.ts';
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
  someSettings,
} from '../../model/testing/records.ts';
import { reportCosts } from './cost-metrics.ts';
import { compilePlacementRules } from './rules.ts';

const prices: PriceTable = { instanceTypes: { big: { onDemand: 1, spotDiscount: 60 } } };
const allocatable = { cpuMillis: 10_000, memoryBytes: 10 * GIB };
const node = (name: string, side: string, type: string) =>
  aNode(name, side, { labels: { [CAPACITY_TYPE]: side, 'node.kubernetes.io/instance-type': type }, allocatable });
const nodes = [node('spot', 'spot', 'big'), node('od', 'on-demand', 'big'), node('new', 'on-demand', 'new')];

/** `shop/web` with a pod on each of these nodes, a tenth of the node each. */
function viewWith(podNodes: readonly string[], changes: Partial<WorkloadRecord> = {}) {
  const workload = aDeployment({ replicas: podNodes.length, ...changes });
  const replicaSet = aReplicaSet(workload);
  const template = aTemplate({ requests: { cpuMillis: 1000, memoryBytes: GIB } });
  const pods = podNodes.map((nodeName, index) => aPod(replicaSet, `p${index}`, { nodeName, template }));
  return createSnapshot({ namespaces: [aNamespace()], nodes, workloads: [workload], replicaSets: [replicaSet], pods });
}
const priced = compilePlacementRules(someSettings(), prices);

async function seriesOf(...passes: readonly Parameters<typeof reportCosts>[1][]) {
  const metrics = createMetrics();
  for (const view of passes) reportCosts(metrics, view, priced);
  const text = await metrics.render();
  return new Map(
    [...text.matchAll(/^(stowage_workload_(?:cost|unpriced)\S*)\{(.*)\} (\S+)$/gm)].map(([, name, labels, value]) => [
      `${name} ${/kind="([^"]+)"/.exec(labels ?? '')?.[1] ?? ''}`.trim(),
      Number(value),
    ]),
  );
}

describe('reportCosts', () => {
  test('cost, the same without spot, and what the floor adds', async () => {
    const annotations = { 'spotalis.io/spot-percentage': '100', 'spotalis.io/min-on-demand': '1' };
    const found = await seriesOf(viewWith(['spot', 'od'], { annotations }));
    expect(found.get('stowage_workload_cost_dollars_per_hour actual')).toBeCloseTo(0.14, 10);
    expect(found.get('stowage_workload_cost_dollars_per_hour all-on-demand')).toBeCloseTo(0.2, 10);
    expect(found.get('stowage_workload_cost_dollars_per_hour floor')).toBeCloseTo(0.06, 10);
    expect(found.get('stowage_workload_unpriced_pods')).toBe(0);
  });

  test('a pod without a price is counted, not guessed', async () => {
    const found = await seriesOf(viewWith(['od', 'new']));
    expect(found.get('stowage_workload_unpriced_pods')).toBe(1);
    expect(found.get('stowage_workload_cost_dollars_per_hour actual')).toBeCloseTo(0.1, 10);
  });

  test('a figure that is no longer known is dropped, not kept', async () => {
    const found = await seriesOf(viewWith(['od']), viewWith(['new']));
    expect([...found]).toEqual([['stowage_workload_unpriced_pods', 1]]);
  });

  test.each([
    ['without the label', { enabled: false }],
    ['with an invalid setting', { annotations: { 'spotalis.io/spot-percentage': 'x' } }],
  ])('a workload %s has no series', async (_, changes) => {
    expect((await seriesOf(viewWith(['od'], changes))).size).toBe(0);
  });

  test('without prices there are no series', async () => {
    const metrics = createMetrics();
    reportCosts(metrics, viewWith(['od']), priced);
    reportCosts(metrics, viewWith(['od']), compilePlacementRules(someSettings()));
    expect(await metrics.render()).not.toMatch(/^stowage_workload_(?:cost|unpriced)[^ ]*\{/m);
  });
});
