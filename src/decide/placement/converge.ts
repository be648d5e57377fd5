/** Convergence: compares the pods of one workload with its slots and decides at most one move, or corrects stamps. */
import { renderReason } from '../../lib/reasons.ts';
import { isLive, revisionsOf } from '../../model/owners.ts';
import { workloadRef } from '../../model/refs.ts';
import type { Decision } from '../decision.ts';
import { decideEviction } from './decide-eviction.ts';
import { decideFallback } from './decide-fallback.ts';
import { decideRestamps } from './decide-restamps.ts';
import { describePods } from './describe-pods.ts';
import { noteSpot } from './note-spot.ts';
import type { ActualCounts, PlanInput, PlanNote, PlannedPod, WorkloadPlan } from './plan.ts';
import { countsFor, floorCount, type SideCounts } from './slots.ts';
import { untroubledSpot } from './spot-outlook.ts';

/**
 * Plans one workload: what is there, what is wanted, and the one next step. Pure: equal input gives equal output.
 * Whether a decision may be carried out now is for the guards to say. Repairing step by step ends: each move lowers the
 * drift by one, and its replacement is steered, so evictions never exceed the drift there was plus the fallbacks.
 */
export function planWorkload(input: PlanInput): WorkloadPlan {
  const { view, workload, policy } = input;
  const { replicas } = workload;
  const revisions = revisionsOf(view, workload);
  const pods = revisions.flatMap((revision) => describePods(input, revision));
  const actual = countActual(pods);
  const seen = {
    workload: workloadRef(workload),
    workloadUid: workload.uid,
    policy,
    replicas,
    actual,
    pods: pods.map(({ plan }) => plan),
    spot: { state: (input.spot ?? untroubledSpot).stateOf(workload.uid, input.now), covered: 0 },
    fallbackDueAt: undefined,
  };
  if (policy.state !== 'managed') {
    const notes = [{ reason: policy.reason.name, text: policy.reason.message }];
    return { ...seen, target: undefined, floor: 0, drift: 0, decisions: [], notes };
  }
  const target = countsFor(policy.rule, replicas);
  const floor = floorCount(policy.rule, replicas);
  const drift = driftOf(actual, target, replicas);
  const decisions: Decision[] = [];
  const spot = { ...seen.spot, covered: coveredBy(pods, actual, target) };
  const size = Math.max(replicas, actual.spot + actual.onDemand + actual.unknown);
  const fallback = decideFallback(input, pods, { actual, target: countsFor(policy.rule, size) });
  const notes = [
    ...noteUnknown(input, pods),
    ...noteWaiting(pods),
    ...noteFloor(actual, floor, replicas),
    ...noteSpot(input, spot, fallback.dueAt),
  ];
  // A pod that runs nowhere comes before one that runs on the wrong side; stamps last, and only on a workload at rest.
  if (fallback.decision !== undefined) decisions.push(fallback.decision);
  else if (drift === 0) decisions.push(...decideRestamps(input, revisions, pods));
  else {
    const move = decideEviction(input, policy, { pods, actual, target, floor });
    if ('kind' in move) decisions.push(move);
    else notes.push(move);
  }
  return { ...seen, target, floor, drift, decisions, notes, spot, fallbackDueAt: fallback.dueAt };
}

/**
 * Pods stamped as cover, as far as on-demand has more than its target: the others took a place of their own meanwhile.
 */
function coveredBy(pods: readonly PlannedPod[], actual: ActualCounts, target: SideCounts): number {
  const covers = pods.filter(({ pod }) => pod.fallback && isLive(pod)).length;
  return Math.min(covers, Math.max(0, actual.onDemand - target.onDemand));
}

function noteUnknown({ view }: PlanInput, pods: readonly PlannedPod[]): PlanNote[] {
  const names = new Set(pods.flatMap(({ pod, plan }) => (plan.state === 'unknown' ? (pod.nodeName ?? []) : [])));
  return [...names]
    .filter((name) => view.node(name) !== undefined)
    .map((node) => ({ reason: 'UnknownNodeClass', text: renderReason('UnknownNodeClass', { node }) }));
}

function noteFloor(actual: ActualCounts, floor: number, replicas: number): PlanNote[] {
  const isComplete = actual.spot + actual.onDemand + actual.unknown >= replicas;
  if (actual.onDemand >= floor || !isComplete) return [];
  return [{ reason: undefined, text: `the on-demand floor is not met: ${actual.onDemand} of ${floor}` }];
}

/**
 * A rollout with maxUnavailable 0 and no room for its surge pod stays stuck by any rule: this says which side is short.
 */
function noteWaiting(pods: readonly PlannedPod[]): PlanNote[] {
  const waiting = pods.filter(
    ({ pod }) => isLive(pod) && pod.nodeName === undefined && pod.unschedulableSince !== undefined,
  );
  return (['spot', 'on-demand'] as const).flatMap((side) => {
    const count = waiting.filter(({ plan }) => plan.actualSide === side).length;
    return count === 0 ? [] : [{ reason: undefined, text: `pods that find no place on ${side}: ${count}` }];
  });
}

function countActual(pods: readonly PlannedPod[]): ActualCounts {
  const counts = { spot: 0, 'on-demand': 0, unknown: 0 };
  for (const { pod, plan } of pods) if (isLive(pod)) counts[plan.actualSide]++;
  return { spot: counts.spot, onDemand: counts['on-demand'], unknown: counts.unknown };
}

/**
 * Pods that would have to change sides. Pods beyond the replicas (a surge) go away by themselves and are no drift; pods
 * of unknown side are none either: whatever they are, more spot pods than the target are too many.
 */
function driftOf(actual: ActualCounts, target: SideCounts, replicas: number): number {
  const excess = Math.max(0, actual.spot - target.spot) + Math.max(0, actual.onDemand - target.onDemand);
  const surplus = Math.max(0, actual.spot + actual.onDemand + actual.unknown - replicas);
  return Math.max(0, excess - surplus);
}
