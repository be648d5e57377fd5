/** Convergence: compares the pods of one workload with its slots and decides at most one move, or corrects stamps. */

import { renderReason } from '../../lib/reasons.ts';
import type { EpochMillis } from '../../lib/units.ts';
import type { ClusterView } from '../../model/cluster-view.ts';
import { oppositeOf } from '../../model/node-class.ts';
import { isLive, type RevisionPods, revisionsOf } from '../../model/owners.ts';
import type { PlacementSettings } from '../../model/placement-settings.ts';
import type { NodeClass, PodRecord, Side, WorkloadRecord } from '../../model/records.ts';
import type { Sides } from '../../model/sides.ts';
import type { Decision, EvictDecision, RestampDecision } from '../decision.ts';
import { actualSide, assignSlots, occupantsOf, type Placed } from './assignment.ts';
import type { ActualCounts, PlanNote, PlannedPod, PodPlan, PodState, WorkloadPlan } from './plan.ts';
import type { ManagedPolicy, PlacementPolicy } from './policy.ts';
import { countsFor, floorCount, type SideCounts } from './slots.ts';
import { compareVictims } from './victim.ts';

export interface PlanInput {
  readonly view: ClusterView;
  readonly sides: Sides;
  readonly workload: WorkloadRecord;
  readonly settings: PlacementSettings;
  readonly policy: PlacementPolicy;
  readonly now: EpochMillis;
}

/** Plans one workload. Whether a decision may be carried out now is for the guards to say. */
export function planWorkload(input: PlanInput): WorkloadPlan {
  const { view, sides, workload, policy } = input;
  const revisions = revisionsOf(view, workload);
  const pods = revisions.flatMap((revision) => plannedPods(input, revision));
  const actual = countActual(pods);
  const seen = {
    workload: { kind: workload.kind, namespace: workload.namespace, name: workload.name },
    workloadUid: workload.uid,
    policy,
    replicas: workload.replicas,
    actual,
    pods: pods.map(({ plan }) => plan),
  };
  if (policy.state !== 'managed') {
    const notes = [{ reason: policy.reason.name, text: policy.reason.message }];
    return { ...seen, target: undefined, floor: 0, drift: 0, decisions: [], notes };
  }
  const { rule } = policy;
  const target = countsFor(rule, workload.replicas);
  const floor = floorCount(rule, workload.replicas);
  const drift = driftOf(actual, target, workload.replicas);
  const notes: PlanNote[] = [...noteUnknown(pods), ...noteWaiting(pods)];
  if (actual.onDemand < floor && actual.spot + actual.onDemand + actual.unknown >= workload.replicas) {
    notes.push({ reason: undefined, text: `the on-demand floor is not met: ${actual.onDemand} of ${floor}` });
  }
  const decisions: Decision[] = [];
  const eviction = drift === 0 ? undefined : decideEviction(input, policy, { pods, actual, target, floor, notes });
  if (eviction !== undefined) decisions.push(eviction);
  if (drift === 0) decisions.push(...decideRestamps(input, revisions, pods));
  return { ...seen, target, floor, drift, decisions, notes };

  function noteUnknown(planned: readonly PlannedPod[]): PlanNote[] {
    const names = new Set(planned.filter(({ plan }) => plan.state === 'unknown').map(({ pod }) => pod.nodeName ?? ''));
    return [...names]
      .filter((name) => name !== '' && view.node(name) !== undefined)
      .map((node) => ({ reason: 'UnknownNodeClass', text: renderReason('UnknownNodeClass', { node }) }));
  }

  function plannedPods(planInput: PlanInput, revision: RevisionPods): PlannedPod[] {
    const placedByUid = new Map<string, Placed>();
    if (planInput.policy.state === 'managed') {
      const occupants = occupantsOf(view, sides, workload, revision.pods);
      const fixed = workload.rollout.type === 'StatefulSet';
      const { placed } = assignSlots(planInput.policy.rule, workload.replicas, occupants, { fixed });
      for (const each of placed) placedByUid.set(each.id, each);
    }
    return revision.pods.map((pod) => ({ pod, plan: describePod(planInput, revision, pod, placedByUid.get(pod.uid)) }));
  }
}

/** A rollout with maxUnavailable 0 and no room for its surge pod stays stuck by any rule: this says which side is short. */
function noteWaiting(pods: readonly PlannedPod[]): PlanNote[] {
  const waiting = pods.filter(
    ({ pod }) => isLive(pod) && pod.nodeName === undefined && pod.unschedulableSince !== undefined,
  );
  return (['spot', 'on-demand'] as const).flatMap((side) => {
    const count = waiting.filter(({ plan }) => plan.actualSide === side).length;
    return count === 0 ? [] : [{ reason: undefined, text: `pods that find no place on ${side}: ${count}` }];
  });
}

function describePod(input: PlanInput, revision: RevisionPods, pod: PodRecord, placed: Placed | undefined): PodPlan {
  const side = placed?.side ?? actualSide(input.view, input.sides, pod);
  const state = stateOf(pod, placed, side, input.workload.replicas);
  return {
    ref: { namespace: pod.namespace, name: pod.name, uid: pod.uid },
    revision: revision.revision,
    slot: placed?.held,
    stampedSlot: pod.slot,
    wantedSide: placed?.wanted,
    actualSide: side,
    node: pod.nodeName,
    ready: pod.ready,
    state,
    note: noteOf(state, pod, placed, side),
  };
}

function stateOf(pod: PodRecord, placed: Placed | undefined, side: NodeClass, replicas: number): PodState {
  if (pod.deletingAt !== undefined) return 'terminating';
  if (!isLive(pod)) return 'ended';
  if (side === 'unknown') return 'unknown';
  if (placed === undefined) return 'settled';
  if (placed.held > replicas) return 'surplus';
  return placed.wanted === side ? 'settled' : 'wrong-side';
}

function noteOf(state: PodState, pod: PodRecord, placed: Placed | undefined, side: NodeClass): string {
  switch (state) {
    case 'terminating':
      return 'terminating: holds no slot';
    case 'ended':
      return `${pod.phase.toLowerCase()}: holds no slot`;
    case 'unknown':
      return pod.nodeName === undefined
        ? 'not scheduled, and nothing says on which side it will run'
        : `node ${pod.nodeName} is of no known class: counts for neither side`;
    case 'surplus':
      return `one more than the replicas asked for, on ${side}`;
    case 'wrong-side':
      return `runs on ${side}, its slot is ${placed?.wanted ?? 'unknown'}`;
    case 'settled':
      if (placed === undefined) return `runs on ${side}`;
      if (pod.nodeName === undefined) return `waits for a place on ${side}`;
      return pod.slot === placed.held
        ? `runs on ${side}, as its slot asks`
        : `runs on ${side}, counted as slot ${placed.held}`;
  }
}

function countActual(pods: readonly PlannedPod[]): ActualCounts {
  const counts = { spot: 0, 'on-demand': 0, unknown: 0 };
  for (const { pod, plan } of pods) if (isLive(pod)) counts[plan.actualSide]++;
  return { spot: counts.spot, onDemand: counts['on-demand'], unknown: counts.unknown };
}

/**
 * Pods that would have to change sides. Pods beyond the replicas (a surge) go away by themselves and are no drift; pods of
 * unknown side are none either: whatever they are, more spot pods than the target are too many.
 */
function driftOf(actual: ActualCounts, target: SideCounts, replicas: number): number {
  const excess = Math.max(0, actual.spot - target.spot) + Math.max(0, actual.onDemand - target.onDemand);
  const surplus = Math.max(0, actual.spot + actual.onDemand + actual.unknown - replicas);
  return Math.max(0, excess - surplus);
}

interface Seen {
  readonly pods: readonly PlannedPod[];
  readonly actual: ActualCounts;
  readonly target: SideCounts;
  readonly floor: number;
  readonly notes: PlanNote[];
}

function decideEviction(input: PlanInput, policy: ManagedPolicy, seen: Seen): EvictDecision | undefined {
  const { view, sides, workload, settings } = input;
  const { actual, target, notes } = seen;
  const from: Side = actual.spot > target.spot ? 'spot' : 'on-demand';
  const to = oppositeOf(from);
  const pinned = sides.pinnedSide(workload.template);
  if (pinned !== 'free' && pinned !== to) {
    const side = pinned === 'neither' ? 'no known side' : pinned;
    notes.push({ reason: 'ConflictingPlacement', text: renderReason('ConflictingPlacement', { side }) });
    return undefined;
  }
  if (sides.pinOf(to).kind === 'affinity' && !settings.mutations.affinity) {
    notes.push({ reason: undefined, text: `${to} needs node affinity, which placement.mutations.affinity forbids` });
    return undefined;
  }
  const isStatefulSet = workload.rollout.type === 'StatefulSet';
  const [victim] = seen.pods
    .filter(
      ({ pod, plan }) => isLive(pod) && plan.actualSide === from && (!isStatefulSet || plan.state === 'wrong-side'),
    )
    .map((each) => (isStatefulSet ? { ...each, plan: { ...each.plan, stampedSlot: each.plan.slot } } : each))
    .sort(compareVictims(view, sides));
  if (victim === undefined) return undefined;
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
    workload: { kind: workload.kind, namespace: workload.namespace, name: workload.name },
    workloadUid: workload.uid,
    pod: victim.plan.ref,
    from,
    to,
    onDemandFloor: seen.floor,
    why: { summary: `${have} pods on ${from}, ${want} wanted: one moves to ${to}`, numbers },
  };
}

/**
 * Only where every pod is there and on a right side, so that only the numbering is wrong. A StatefulSet's slots follow
 * from its ordinals, so its stamps decide nothing.
 */
function decideRestamps(
  { workload }: PlanInput,
  revisions: readonly RevisionPods[],
  pods: readonly PlannedPod[],
): RestampDecision[] {
  const live = pods.filter(({ pod }) => isLive(pod));
  const isAtRest =
    workload.rollout.type !== 'StatefulSet' &&
    live.length === workload.replicas &&
    live.every(({ plan }) => plan.state === 'settled') &&
    revisions.filter((revision) => revision.pods.some(isLive)).length <= 1;
  if (!isAtRest) return [];
  return live.flatMap(({ pod, plan }) => {
    const { slot, actualSide: side } = plan;
    if (slot === undefined || side === 'unknown' || (slot === pod.slot && side === pod.capacity)) return [];
    // Anything but our own earlier value, or none, is the user's.
    const isOurCost = pod.deletionCost === 0 || pod.deletionCost === -(pod.slot ?? 0);
    return [
      {
        kind: 'restamp',
        engine: 'placement',
        workload: { kind: workload.kind, namespace: workload.namespace, name: workload.name },
        workloadUid: workload.uid,
        pod: plan.ref,
        resourceVersion: pod.resourceVersion,
        slot,
        capacity: side,
        deletionCost: isOurCost ? -slot : undefined,
        why: {
          summary: `runs on ${side} as slot ${slot}; its stamp says ${pod.slot ?? 'nothing'}`,
          numbers: { slot, stampedSlot: pod.slot ?? 0 },
        },
      },
    ];
  });
}
