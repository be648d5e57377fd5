/** What workloads cost, for Prometheus: worked out when somebody asks, so that it costs nothing in between. */
import { costOf } from '../../decide/placement/cost.ts';
import type { Metrics } from '../../lib/metrics.ts';
import type { ClusterView } from '../../model/cluster-view.ts';
import { workloadLabels } from './metrics.ts';
import type { PlacementRules } from './rules.ts';

const COST = 'stowage_workload_cost_dollars_per_hour';
const UNPRICED = 'stowage_workload_unpriced_pods';

/**
 * Sets the cost series of every managed workload anew, in dollars per hour by the prices file. A figure of which a part
 * is unknown is about the pods whose price is known, and `stowage_workload_unpriced_pods` says how many are not;
 * without any priced pod there is none. To be called on the leader only: every replica would tell the same money once
 * more.
 */
export function reportCosts(metrics: Metrics, view: ClusterView, { sides, prices, readPolicy }: PlacementRules): void {
  metrics.clear(COST);
  metrics.clear(UNPRICED);
  if (prices === undefined) return;
  for (const workload of view.workloads()) {
    // Most workloads of a cluster are not labelled: their policy need not be read to know.
    if (!workload.enabled) continue;
    const policy = readPolicy(view, workload);
    if (policy.state !== 'managed') continue;
    const { pods, pricedPods, actual, allOnDemand, floor } = costOf({
      view,
      sides,
      workload,
      rule: policy.rule,
      prices,
    });
    const labels = workloadLabels(workload);
    metrics.set(UNPRICED, labels, pods - pricedPods);
    if (pricedPods === 0) continue;
    metrics.set(COST, { ...labels, kind: 'actual' }, actual);
    metrics.set(COST, { ...labels, kind: 'all-on-demand' }, allOnDemand);
    if (floor?.cost !== undefined) metrics.set(COST, { ...labels, kind: 'floor' }, floor.cost);
  }
}
