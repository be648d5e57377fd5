/** Whether a pod must change sides, and which. */
import { renderReason } from '../../lib/reasons.ts';
import { oppositeOf } from '../../model/node-class.ts';
import { isLive } from '../../model/owners.ts';
import type { Side } from '../../model/records.ts';
import { workloadRef } from '../../model/refs.ts';
import type { EvictDecision } from '../decision.ts';
import { firstThatCanGo } from './first-that-can-go.ts';
import { foreignPin } from './foreign-pin.ts';
import type { ActualCounts, PlanInput, PlanNote, PlannedPod } from './plan.ts';
import type { ManagedPolicy } from './policy.ts';
import type { SideCounts } from './slots.ts';
import { compareVictims } from './victim.ts';

/** What the plan has found so far. */
export interface Seen {
  readonly pods: readonly PlannedPod[];
  readonly actual: ActualCounts;
  readonly target: SideCounts;
  readonly floor: number;
}

/**
 * The one move that brings the counts closer to the target, or the note that says why there is none. Only where counts
 * are off: a pod that is in another slot than it could be is never moved for that.
 */
export function decideEviction(input: PlanInput, policy: ManagedPolicy, seen: Seen): EvictDecision | PlanNote {
  const { view, sides, workload, settings } = input;
  const { actual, target } = seen;
  const from: Side = actual.spot > target.spot ? 'spot' : 'on-demand';
  const to = oppositeOf(from);
  // What admission could not steer there would come back where it was: an eviction for nothing, again and again.
  const pinned = sides.pinnedSide(workload.template);
  if (pinned !== 'free' && pinned !== to) {
    return conflict('The pod template', pinned === 'neither' ? 'no known side' : pinned);
  }
  if (sides.pinOf(to).kind === 'affinity' && !settings.mutations.affinity) {
    return { reason: undefined, text: `${to} needs node affinity, which placement.mutations.affinity forbids` };
  }
  // A StatefulSet's pod comes back in its own slot, so only one whose slot is of the other side may go.
  const isStatefulSet = workload.rollout.type === 'StatefulSet';
  const candidates = seen.pods.filter(
    ({ pod, plan }) => isLive(pod) && plan.actualSide === from && (!isStatefulSet || plan.state === 'wrong-side'),
  );
  const victims = candidates
    .filter(({ pod }) => foreignPin(sides, pod) !== from)
    .map((each) => (isStatefulSet ? { ...each, plan: { ...each.plan, stampedSlot: each.plan.slot } } : each))
    .sort(compareVictims(view, sides));
  const victim = firstThatCanGo(input, victims, seen.pods, to);
  if (victim === undefined) {
    return candidates.length > 0
      ? conflict(ADDED, from)
      : { reason: undefined, text: `no pod on ${from} can be told apart as the one to move` };
  }
  const numbers = {
    replicas: workload.replicas,
    spot: actual.spot,
    onDemand: actual.onDemand,
    unknown: actual.unknown,
    targetSpot: target.spot,
    targetOnDemand: target.onDemand,
    spotPercentage: policy.rule.spotPercentage,
    floor: seen.floor,
    slot: victim.plan.slot ?? 0,
  };
  const [have, want] = from === 'spot' ? [actual.spot, target.spot] : [actual.onDemand, target.onDemand];
  return {
    kind: 'evict',
    engine: 'placement',
    workload: workloadRef(workload),
    workloadUid: workload.uid,
    pod: victim.plan.ref,
    from,
    to,
    onDemandFloor: seen.floor,
    ...(to === 'spot' && victim.pod.fallback && { isReturn: true }),
    ...(victim.pod.nodeName === undefined && { resourceVersion: victim.pod.resourceVersion }),
    why: { summary: `${have} on ${from}, ${want} wanted: one moves to ${to}`, numbers },
  };
}

const ADDED = 'What is added to its pods when they are made (by the namespace, a RuntimeClass or a webhook)';

function conflict(what: string, side: string): PlanNote {
  return { reason: 'ConflictingPlacement', text: renderReason('ConflictingPlacement', { what, side }) };
}
