/**
 * Admission: on which side a pod that is being created will run. Reading the ledger and writing the claim happen in one
 * synchronous call, so concurrent requests cannot decide on the same picture. That is what a burst of a thousand pods
 * needs to land exact, without an eviction afterwards (hazard H1; karpenter#757, case 28).
 */
import { placementKeys } from '../../api/annotations.ts';
import { formatDeletionCost, formatStamps, type PodStamps } from '../../api/annotations-values.ts';
import type { EpochMillis } from '../../lib/units.ts';
import type { ClusterView } from '../../model/cluster-view.ts';
import { findRoom, type Room } from '../../model/find-room.ts';
import type { OwnerResolution } from '../../model/owners.ts';
import { podsOf } from '../../model/owners.ts';
import type { PlacementSettings } from '../../model/placement-settings.ts';
import type { Side } from '../../model/records.ts';
import type { Sides } from '../../model/sides.ts';
import type { AdmissionDecision, Unsteered } from './admission-decision.ts';
import type { AdmissionPod } from './admission-pod.ts';
import { statefulSlot } from './assignment.ts';
import { type ChosenSlot, chooseSlot } from './choose-slot.ts';
import type { ClaimLedger } from './claims.ts';
import { maxExcessOf } from './decide-fallback.ts';
import { takeCensus } from './free-slots.ts';
import { noticeStranded } from './notice-stranded.ts';
import { buildPatch } from './patch.ts';
import type { ManagedPolicy, PolicyReader } from './policy.ts';
import { poolsToAvoid } from './pool-preference.ts';
import { sideOfVolumes } from './side-of-volumes.ts';
import { countsFor, onDemandCount, type SideCounts, type SlotRule, sideOfSlot } from './slots.ts';
import type { SpotMemory } from './spot-memory.ts';
import { unsteered, unsteeredBecause } from './unsteered.ts';

export interface AdmissionInput {
  readonly view: ClusterView;
  readonly sides: Sides;
  readonly settings: PlacementSettings;
  readonly readPolicy: PolicyReader;
  /** What is known of spot; left out, it can always be had. */
  readonly spot?: SpotMemory | undefined;
  /** Changed by a decision that is neither a dry run nor read-only. */
  readonly ledger: ClaimLedger;
  /** The pod's owner as found in the view, or read live where the view did not have it. */
  readonly owner: OwnerResolution;
  /**
   * The uid is the API server's, the same when it asks again for want of an answer; `sideEffects: None` demands dry
   * runs.
   */
  readonly request: { readonly uid: string; readonly dryRun: boolean };
  readonly pod: AdmissionPod;
  readonly now: EpochMillis;
}

/**
 * Decides and, unless it is a dry run or read-only, reserves. Never throws for anything a pod can contain. The order
 * matters: what is not ours is let through before anything about it is judged, and a repeated request is answered from
 * memory before its own claim could count against it (hazard H16).
 */
export function decideAdmission(input: AdmissionInput): AdmissionDecision {
  const { view, settings, pod, owner, request, now } = input;
  if (settings.enabled === false) return unsteered('EngineDisabled', { engine: 'placement' });
  if (pod.isMirror) return unsteered('MirrorPod', {});
  if (pod.nodeName !== undefined) return unsteered('AlreadyBound', { node: pod.nodeName });
  if (owner.kind === 'unmanaged') return unsteered('NoManagedOwner', {});
  if (owner.kind === 'not-cached') {
    return unsteered('OwnerUnknown', { owner: `${owner.owner.kind} ${owner.owner.name}` });
  }
  // With stores still filling, every count would be too low.
  if (!view.freshness(owner.workload.namespace).synced)
    return unsteered('CachesStale', { what: 'the cluster', age: 'unknown' });
  const policy = input.readPolicy(view, owner.workload);
  if (policy.state !== 'managed') return unsteeredBecause(policy.reason);

  const repeated = input.ledger.recall(request.uid, now);
  if (repeated !== undefined) return repeated;
  if (pod.stamp !== undefined && !isCopiedStamp(input, owner.workload.uid)) return keepStamp(input, owner, pod.stamp);
  const pinned = input.sides.pinnedSide(pod.template);
  if (pinned === 'neither') return unsteered('PinnedByUser', { side: 'no node of a known side' });

  if (input.spot !== undefined) noticeStranded(input.spot, { ...input, workload: owner.workload });
  const byVolume =
    pinned === 'free' ? sideOfVolumes(view, input.sides, owner.workload.namespace, pod.claims ?? []) : undefined;
  const choice = choose(input, owner, policy, pinned === 'free' ? byVolume : pinned);
  if (settings.readOnly) {
    return { ...unsteered('ReadOnly', {}), wouldBe: { slot: choice.slot, side: choice.side } };
  }
  const pinnedBy = pinned !== 'free' ? 'pod' : byVolume !== undefined ? 'volume' : undefined;
  const decision = steer(input, owner, policy, { ...choice, pinnedBy });
  if (!request.dryRun) reserve(input, owner, choice, decision);
  return decision;
}

type WorkloadOwner = Extract<OwnerResolution, { kind: 'workload' }>;

/**
 * A stamp that a pod in the view carries already was copied into the template by hand; it says nothing about this pod.
 */
function isCopiedStamp(input: AdmissionInput, workloadUid: string): boolean {
  const workload = input.view.workloadByUid(workloadUid);
  if (workload === undefined) return false;
  return podsOf(input.view, workload).some((pod) => pod.admissionId === input.pod.stamp?.admissionId);
}

/**
 * A webhook called again for a pod it stamped (reinvocation has a new uid): no patch, and the reservation stands, also
 * when another replica made it. No answer is remembered: that replica's request may yet be repeated here, without the
 * stamp.
 */
function keepStamp(input: AdmissionInput, owner: WorkloadOwner, stamp: PodStamps): Unsteered {
  const { workload, revision } = owner;
  const reserves = !input.request.dryRun && !input.settings.readOnly && workload.rollout.type !== 'StatefulSet';
  if (reserves && input.ledger.recall(stamp.admissionId, input.now) === undefined) {
    const { slot, capacity: side, admissionId: uid, fallback: cover = false } = stamp;
    input.ledger.claim({ uid, workloadUid: workload.uid, revision, slot, side, cover, at: input.now });
  }
  return unsteered('AlreadyStamped', {});
}

function choose(
  input: AdmissionInput,
  owner: WorkloadOwner,
  policy: ManagedPolicy,
  pinned: Side | undefined,
): ChosenSlot {
  const { workload, revision, replicaSet } = owner;
  const ordinalSlot =
    workload.rollout.type === 'StatefulSet' && input.pod.name !== undefined
      ? statefulSlot(workload, input.pod.name)
      : undefined;
  if (ordinalSlot !== undefined)
    return ordinalChoice(input, owner, policy.rule, {
      slot: ordinalSlot,
      side: pinned ?? sideOfSlot(policy.rule, ordinalSlot),
      isPinned: pinned !== undefined,
    });
  return chooseSlot({
    view: input.view,
    sides: input.sides,
    ledger: input.ledger,
    workload,
    revision,
    replicaSetUid: replicaSet?.uid,
    rule: policy.rule,
    pinned,
    lacksRoom: (side) => lacksRoom(input, owner, side),
    mayUseSpot: () => mayUseSpot(input, owner),
    maxExcess: (pods) => maxExcessOf(countsFor(policy.rule, pods), input.settings),
    now: input.now,
  });
}

/** Of a choice that rests on an ordinal: nobody was counted, and no claim is in its way. */
const uncounted = { live: 0, claimed: 0, onDemand: 0, diverted: false, superseded: [] } as const;

/** Slot and side of a StatefulSet's pod follow from its ordinal; on-demand may cover for spot. */
function ordinalChoice(
  input: AdmissionInput,
  owner: WorkloadOwner,
  rule: SlotRule,
  { slot, side, isPinned }: { readonly slot: number; readonly side: Side; readonly isPinned: boolean },
): ChosenSlot {
  const asWanted = { ...uncounted, slot, side, cover: false };
  if (side === 'on-demand' || isPinned || mayUseSpot(input, owner)) return asWanted;
  const { workload } = owner;
  const { onDemand } = takeCensus(input.view, input.sides, podsOf(input.view, workload));
  const excess = onDemand + 1 - onDemandCount(rule, workload.replicas);
  const isAllowed = excess <= maxExcessOf(countsFor(rule, workload.replicas), input.settings);
  return isAllowed && !lacksRoom(input, owner, 'on-demand')
    ? { ...uncounted, slot, side: 'on-demand', cover: true }
    : asWanted;
}

/** Hazard H8: in a storm spot is used only where a node with room stands ready: what is made now would be lost next. */
function mayUseSpot(input: AdmissionInput, owner: WorkloadOwner): boolean {
  const { spot, request, now } = input;
  if (spot === undefined) return true;
  if (!spot.mayClaim(owner.workload.uid, request.uid, now)) return false;
  if (spot.storm(now) === undefined) return true;
  // What is lost together is made anew together: all would see the same room.
  const sent = input.ledger.unseenOn('spot', now) + spot.onTheirWay(now);
  return roomFor(input, owner, 'spot', sent).kind === 'node';
}

function lacksRoom(input: AdmissionInput, owner: WorkloadOwner, side: Side): boolean {
  return !input.sides.isProvisionable(side) && roomFor(input, owner, side).kind === 'none';
}

/** Volumes are not asked: a claim that does not exist yet must not look like a lack of room. */
function roomFor({ view, sides, pod }: AdmissionInput, { workload }: WorkloadOwner, side: Side, ahead = 0): Room {
  const { namespace } = workload;
  const { template } = pod;
  return findRoom(view, sides, { namespace, template, side, claims: [], siblingNodes: new Set(), ahead });
}

/** A choice, and what left no other side: the pod's own constraints, or a volume of its. */
type Steered = ChosenSlot & { readonly pinnedBy: 'pod' | 'volume' | undefined };

function steer(input: AdmissionInput, owner: WorkloadOwner, policy: ManagedPolicy, choice: Steered): AdmissionDecision {
  const { pod, settings, sides, request } = input;
  const pinnedByUser = choice.pinnedBy === 'pod';
  const pin = pinnedByUser ? undefined : sides.pinOf(choice.side);
  const isPinAllowed = pin?.kind !== 'affinity' || settings.mutations.affinity;
  const warnings = isPinAllowed
    ? []
    : [`${choice.side} needs node affinity, which placement.mutations.affinity forbids`];
  const { cover: fallback } = choice;
  const avoid = choice.side === 'spot' && settings.mutations.affinity ? poolsToAvoid(input, owner.workload) : [];
  const stamps = {
    ...formatStamps({
      slot: choice.slot,
      capacity: choice.side,
      admissionId: request.uid,
      unconfirmed: false,
      fallback,
      // By what its owner did not write: that of a template shows there.
      pinned: pinnedByUser && sides.pinnedSide(owner.workload.template) === 'free',
    }),
    // Only the ReplicaSet controller looks at it: the highest slots are removed first, so a scale-down keeps the mix.
    ...(owner.replicaSet === undefined || pod.hasDeletionCost
      ? {}
      : { [placementKeys.podDeletionCost]: formatDeletionCost(choice.slot) }),
  };
  const patch = buildPatch(pod, {
    pin: isPinAllowed ? pin : undefined,
    tolerations: settings.mutations.tolerations && !pinnedByUser ? sides.tolerationsOf(choice.side) : [],
    avoid,
    stamps,
  });
  const explanation = explain(owner, policy, choice);
  const { slot, side } = choice;
  return { kind: 'steered', pinnedByUser, dryRun: request.dryRun, slot, side, patch, stamps, explanation, warnings };
}

function explain(owner: WorkloadOwner, policy: ManagedPolicy, choice: Steered) {
  const { replicas } = owner.workload;
  const target = countsFor(policy.rule, replicas);
  return {
    summary: `slot ${choice.slot} on ${choice.side}: ${whyOf(choice, target)}`,
    numbers: {
      slot: choice.slot,
      replicas,
      targetSpot: target.spot,
      targetOnDemand: target.onDemand,
      live: choice.live,
      claimed: choice.claimed,
      countedOnDemand: choice.onDemand,
      diverted: choice.diverted,
      ...(choice.cover && { cover: true }),
    },
  };
}

function whyOf({ pinnedBy, cover, diverted }: Steered, target: SideCounts): string {
  if (pinnedBy === 'pod') return 'its own constraints choose that side';
  if (pinnedBy === 'volume') return 'a volume of its can be reached from nodes of that side only';
  if (cover) return 'temporary cover, as spot has no room at present';
  if (diverted) return 'the other side has no room';
  return `wanted are ${target.spot} on spot and ${target.onDemand} on on-demand`;
}

/**
 * A StatefulSet's slots follow from ordinals: the same name gets the same slot however often it is asked, so nothing is
 * reserved.
 */
function reserve(input: AdmissionInput, owner: WorkloadOwner, choice: ChosenSlot, decision: AdmissionDecision): void {
  const { ledger, request, now } = input;
  for (const uid of choice.superseded) ledger.release(uid);
  if (choice.side === 'spot') input.spot?.claim(owner.workload.uid, request.uid, now);
  if (owner.workload.rollout.type === 'StatefulSet') return;
  const { slot, side } = choice;
  ledger.claim(
    {
      uid: request.uid,
      workloadUid: owner.workload.uid,
      revision: owner.revision,
      slot,
      side,
      cover: choice.cover,
      at: now,
    },
    decision,
  );
}
