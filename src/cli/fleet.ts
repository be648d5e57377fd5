/** Every workload of a view, planned: what status, plan, explain and the demo's screen are made of. */
import type { PlacementRules } from '../controllers/placement-rules.ts';
import { planWorkload } from '../decide/placement/converge.ts';
import { costOf, type WorkloadCost } from '../decide/placement/cost.ts';
import type { WorkloadPlan } from '../decide/placement/plan.ts';
import type { EpochMillis } from '../lib/units.ts';
import type { ClusterView } from '../model/cluster-view.ts';
import type { WorkloadRecord } from '../model/records.ts';

export interface PlannedWorkload {
  readonly workload: WorkloadRecord;
  readonly plan: WorkloadPlan;
  /** Live pods without a node yet. */
  readonly pending: number;
  /** Live pods that are ready. */
  readonly ready: number;
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
    .sort((a, b) => compareKeys(sortKey(a), sortKey(b)))
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
  const live = plan.pods.filter(({ state }) => state !== 'terminating' && state !== 'ended');
  const { target, actual } = plan;
  return {
    workload,
    plan,
    pending: live.filter(({ node }) => node === undefined).length,
    ready: live.filter(({ ready }) => ready).length,
    isBalanced:
      target !== undefined &&
      actual.unknown === 0 &&
      actual.spot === target.spot &&
      actual.onDemand === target.onDemand,
    cost:
      prices === undefined || policy.state !== 'managed'
        ? undefined
        : costOf({ view, sides, workload, rule: policy.rule, prices }),
  };
}

function sortKey({ namespace, kind, name }: WorkloadRecord): string {
  return `${namespace}\0${kind}\0${name}`;
}

/** By code unit, so that the order is the same on every machine. */
function compareKeys(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
