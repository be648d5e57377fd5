/**
 * Whether a pod has waited for spot long enough to be recreated on on-demand, and when the next one will have.
 * Recreating is what helps: a pod's constraints are fixed once it is made (hazard H5; autoscaler#4958).
 */
import { ascending } from '../../lib/ascending.ts';
import { formatDuration } from '../../lib/duration.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { isLive } from '../../model/owners.ts';
import type { PlacementSettings } from '../../model/placement-settings.ts';
import type { PodRecord, WorkloadRecord } from '../../model/records.ts';
import { workloadRef } from '../../model/refs.ts';
import type { Sides } from '../../model/sides.ts';
import type { FallbackDecision } from '../decision.ts';
import { firstThatCanGo } from './first-that-can-go.ts';
import { foreignPin } from './foreign-pin.ts';
import type { ActualCounts, PlanInput, PlannedPod } from './plan.ts';
import type { SideCounts } from './slots.ts';

/** The shortest wait: a scheduler and an autoscaler need some seconds even where there is room. */
const MIN_PATIENCE_MILLIS: Millis = 30_000;
/**
 * Pods that land show that spot has room again, so the others get another round: at most so many times the patience in
 * all.
 */
const MAX_ROUNDS = 3;

/**
 * How long a pod of the workload may wait. Half as long where it keeps later ordinals from being made at all: a
 * StatefulSet with OrderedReady (kubernetes issue 67250).
 */
export function patienceFor(workload: WorkloadRecord, { fallback }: PlacementSettings): Millis {
  const { rollout } = workload;
  const isBlocking = rollout.type === 'StatefulSet' && rollout.orderedReady;
  return isBlocking
    ? Math.min(fallback.afterMillis, Math.max(MIN_PATIENCE_MILLIS, fallback.afterMillis / 2))
    : fallback.afterMillis;
}

/**
 * Whether the pod waits for spot because admission sent it there. A pod whose template names the side itself is where
 * its owner wants it, and what others pin would be pinned again.
 */
export function waitsForSpot(sides: Sides, workload: WorkloadRecord, pod: PodRecord): boolean {
  return (
    isLive(pod) &&
    pod.nodeName === undefined &&
    pod.phase === 'Pending' &&
    pod.unschedulableSince !== undefined &&
    pod.capacity === 'spot' &&
    pod.admissionId !== undefined &&
    sides.pinnedSide(workload.template) === 'free' &&
    foreignPin(sides, pod) === undefined
  );
}

/**
 * The instant from which a waiting pod counts as stranded: patience from the moment the scheduler gave up on it, not
 * from its creation; anew from the last landing of a sibling.
 */
export function strandedAt(pod: PodRecord, patienceMillis: Millis, lastLanded: EpochMillis | undefined): EpochMillis {
  const since = pod.unschedulableSince ?? pod.createdAt;
  const from = Math.max(since, lastLanded ?? since);
  return Math.min(from + patienceMillis, since + MAX_ROUNDS * patienceMillis);
}

/**
 * How many pods of the workload on-demand may hold beyond its target: a share of those meant for spot, rounded up.
 * @param target of all pods there are: while a rollout replaces pods that cover, both cover.
 */
export function maxExcessOf(target: SideCounts, { fallback }: PlacementSettings): number {
  return Math.ceil((target.spot * fallback.maxPercent) / 100);
}

export interface FallbackOutcome {
  readonly decision: FallbackDecision | undefined;
  /** When the next pod is due; undefined when none waits, or one is due now. */
  readonly dueAt: EpochMillis | undefined;
}

/**
 * Of those that can go the pod that waited longest; of equals the lowest slot, as the highest is the first to go in a scale-down.
 * @param seen.target see {@link maxExcessOf}.
 */
export function decideFallback(
  input: PlanInput,
  pods: readonly PlannedPod[],
  seen: { readonly actual: ActualCounts; readonly target: SideCounts },
): FallbackOutcome {
  const { sides, workload, settings, now } = input;
  const patience = patienceFor(workload, settings);
  const lastLanded = input.spot?.lastLanded(workload.uid);
  const waiting = pods
    .filter(({ pod }) => waitsForSpot(sides, workload, pod))
    .map((each) => ({ ...each, at: strandedAt(each.pod, patience, lastLanded) }))
    .sort((a, b) => a.at - b.at || (a.pod.slot ?? 0) - (b.pod.slot ?? 0) || ascending(a.pod.uid, b.pod.uid));
  const due = waiting.filter(({ at }) => at <= now);
  const first = firstThatCanGo(input, due, pods, 'on-demand');
  if (first === undefined) return { decision: undefined, dueAt: waiting[0]?.at };
  const { pod, plan } = first;
  const slot = plan.slot ?? 0;
  const waitingSince = pod.unschedulableSince ?? pod.createdAt;
  const excess = Math.max(0, seen.actual.onDemand - seen.target.onDemand) + 1;
  const waited = formatDuration(Math.floor((now - waitingSince) / 1000) * 1000);
  return {
    dueAt: undefined,
    decision: {
      kind: 'fallback',
      engine: 'placement',
      workload: workloadRef(workload),
      workloadUid: workload.uid,
      pod: plan.ref,
      resourceVersion: pod.resourceVersion,
      to: 'on-demand',
      slot,
      waitingSince,
      excess,
      maxExcess: maxExcessOf(seen.target, settings),
      why: {
        summary: `spot has had no room for it for ${waited}`,
        numbers: {
          slot,
          waitedSeconds: Math.floor((now - waitingSince) / 1000),
          waiting: waiting.length,
          onDemand: seen.actual.onDemand,
          targetOnDemand: seen.target.onDemand,
        },
      },
    },
  };
}
