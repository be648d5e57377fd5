/** One workload as a row of the dashboard's table, judged as the operator judges it at this moment. */
import type { WorkloadExplanation } from '../../controllers/placement/explain.ts';
import type { Blocking } from '../../decide/placement/explain.ts';
import { isMove, liveCounts, standingOf } from '../../decide/placement/standing.ts';
import type { EpochMillis } from '../../lib/units.ts';
import type { WorkloadRef } from '../../model/cluster-view.ts';
import type { SizedWorkload } from '../../model/sizing-records.ts';
import type { BlockTold, SizeTold, WorkloadRow } from './answers.ts';
import type { ScannedWorkload } from './fleet-scan.ts';
import type { DashboardSources } from './sources.ts';

/** Undefined for a workload that is gone. */
export function lookAtWorkload(sources: DashboardSources, ref: WorkloadRef): ScannedWorkload | undefined {
  const { kind, namespace, name } = ref;
  const explained = sources.explain(ref);
  const size = sizeOf(sources, ref);
  if (explained === undefined) {
    const sized = sources.sizingView?.workload(ref);
    return sized === undefined ? undefined : { row: rowOfSized(sources, sized, size), cost: undefined };
  }
  const { plan, lastDisruption } = explained;
  const cost = plan.policy.state === 'managed' ? explained.cost : undefined;
  const { target, actual, drift } = plan;
  const row = {
    kind,
    namespace,
    name,
    state: standingOf(plan),
    replicas: plan.replicas,
    ...liveCounts(plan),
    actual,
    target: target && { spot: target.spot, onDemand: target.onDemand },
    drift,
    blockedBy: blockOf(explained),
    // A sum of which nothing is known would look like pods that cost nothing.
    cost:
      cost === undefined || cost.pricedPods === 0 ? undefined : { actual: cost.actual, allOnDemand: cost.allOnDemand },
    size,
    lastDisruption,
  };
  return { row, cost };
}

/** Of a kind that placement does not know, such as a DaemonSet. */
function rowOfSized({ sizingView }: DashboardSources, sized: SizedWorkload, size: SizeTold | undefined): WorkloadRow {
  const { kind, namespace, name, replicas } = sized;
  const pods = sizingView?.podsOf(sized).filter(({ pod }) => pod.deletingAt === undefined) ?? [];
  return {
    kind,
    namespace,
    name,
    state: 'unmanaged',
    replicas,
    ready: pods.filter(({ pod }) => pod.ready).length,
    pending: pods.filter(({ pod }) => pod.nodeName === undefined).length,
    actual: { spot: 0, onDemand: 0, unknown: pods.length },
    drift: 0,
    size,
  };
}

/** The objection to the next move that counts. */
function blockOf({ decisions, at }: WorkloadExplanation): BlockTold | undefined {
  const move = decisions.find(({ decision }) => isMove(decision));
  const [first] = move?.blocks ?? [];
  return first && toldBlock(first, at);
}

export function toldBlock({ reason, message, advice, retryAfterMillis }: Blocking, at: EpochMillis): BlockTold {
  return { reason, message, advice, retryAt: retryAfterMillis === undefined ? undefined : at + retryAfterMillis };
}

function sizeOf({ rightsizing }: DashboardSources, ref: WorkloadRef): SizeTold | undefined {
  const outcome = rightsizing?.outcomeOf(ref);
  if (outcome === undefined) return undefined;
  const { policy, result } = outcome;
  return {
    policy: `${policy.namespace}/${policy.name}`,
    mode: policy.spec.mode,
    status: result?.entry.status,
    reason: result?.entry.reason,
    saving: result?.saving,
  };
}
