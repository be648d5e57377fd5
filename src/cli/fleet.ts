/** Every workload of a view, planned: what status, plan, explain and the demo's screen are made of. */
import type { PlacementRules } from '../controllers/placement/rules.ts';
import { planWorkload } from '../decide/placement/converge.ts';
import { costOf, type WorkloadCost } from '../decide/placement/cost.ts';
import type { WorkloadPlan } from '../decide/placement/plan.ts';
import { isBalanced, type LiveCounts, liveCounts } from '../decide/placement/standing.ts';
import { ascending } from '../lib/ascending.ts';
import type { EpochMillis } from '../lib/units.ts';
import type { ClusterView } from '../model/cluster-view.ts';
import type { WorkloadRecord } from '../model/records.ts';

/** One workload and what placement makes of it at one moment. */
export interface PlannedWorkload extends LiveCounts {
  readonly workload: WorkloadRecord;
  readonly plan: WorkloadPlan;
  /** Managed, every replica there and on the right side. */
  readonly isBalanced: boolean;
  /** Undefined where no prices are given, or nothing is managed. */
  readonly cost: WorkloadCost | undefined;
}

/** All workloads, or those of one namespace, in order of namespace, kind and name. */
export function planFleet(
  view: ClusterView,
  rules: PlacementRules,
  now: EpochMillis,
  namespace?: string,
): PlannedWorkload[] {
  return [...view.workloads()]
    .filter((workload) => namespace === undefined || workload.namespace === namespace)
    .sort((a, b) => ascending(sortKey(a), sortKey(b)))
    .map((workload) => planOne(view, rules, now, workload));
}

/** What placement would do with one workload, judged as the operator judges it. */
export function planOne(
  view: ClusterView,
  rules: PlacementRules,
  now: EpochMillis,
  workload: WorkloadRecord,
): PlannedWorkload {
  const { settings, sides, prices } = rules;
  const policy = rules.readPolicy(view, workload);
  const plan = planWorkload({ view, sides, workload, settings, policy, now });
  return {
    workload,
    plan,
    ...liveCounts(plan),
    isBalanced: isBalanced(plan),
    cost:
      prices === undefined || policy.state !== 'managed'
        ? undefined
        : costOf({ view, sides, workload, rule: policy.rule, prices }),
  };
}

function sortKey({ namespace, kind, name }: WorkloadRecord): string {
  return `${namespace}\0${kind}\0${name}`;
}
