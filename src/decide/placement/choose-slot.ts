/**
 * Which slot a new pod of a Deployment (or any owner of ReplicaSets) takes. Its replicas come from `spec.replicas`,
 * never from counting pods: in a burst most pods are not there to be counted.
 */
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { ClusterView } from '../../model/cluster-view.ts';
import { oppositeOf } from '../../model/node-class.ts';
import { podsOwnedBy, type RevisionPods, revisionsOf } from '../../model/owners.ts';
import type { Side, WorkloadRecord } from '../../model/records.ts';
import type { Sides } from '../../model/sides.ts';
import type { Placement } from './admission-decision.ts';
import type { ClaimLedger } from './claims.ts';
import { type FreeSlots, freeSlots, takeCensus } from './free-slots.ts';
import { onDemandCount, type SlotRule, sideOfSlot } from './slots.ts';

export interface SlotRequest {
  readonly view: ClusterView;
  readonly sides: Sides;
  readonly ledger: ClaimLedger;
  readonly workload: WorkloadRecord;
  readonly revision: string;
  /** The pod's ReplicaSet: when it was read live its pods may be in the view before it is. */
  readonly replicaSetUid: string | undefined;
  readonly rule: SlotRule;
  /** The side the pod's own constraints choose, or undefined. */
  readonly pinned: Side | undefined;
  /** Whether a side is known to have no room for the pod. Asked only where it matters: it goes through all nodes. */
  readonly lacksRoom: (side: Side) => boolean;
  /** Whether a pod may be sent to spot now. Asked only for one that would be. */
  readonly mayUseSpot: () => boolean;
  /** How many of so many pods on-demand may have beyond the target, to cover for spot. */
  readonly maxExcess: (pods: number) => number;
  readonly now: EpochMillis;
}

/** A slot with the numbers that led to it. */
export interface ChosenSlot extends Placement {
  /** Live pods of all revisions, and claims for pods that are not seen yet; this pod is in neither. */
  readonly live: number;
  readonly claimed: number;
  /** Of both, those on on-demand. */
  readonly onDemand: number;
  /** The side asked for had no room, so the other one was taken. */
  readonly diverted: boolean;
  /** The slot is of spot, which cannot be had: on-demand covers for it. */
  readonly cover: boolean;
  /** Claims given up for this one: their pods never came and all slots were taken. */
  readonly superseded: readonly string[];
}

/**
 * A claim unseen for this long may be taken over when slots run out: a created pod shows up in a watch within a second.
 */
const DOUBTFUL_AFTER_MILLIS: Millis = 5000;

/**
 * The wanted side comes from the union of all revisions: on-demand while fewer than onDemand(n) of the n pods (this one
 * included) are there, else spot. So a rollout replaces each pod on the side that was just freed. Then the lowest free
 * slot of that side in the pod's own revision, else of the other side. A revision that has all its pods is exact
 * whatever the order was. Tried and worse: the lowest free slot of the revision alone; in a model of 20,000 random
 * rollouts without spare capacity it got stuck in 45 %, this rule never where maxUnavailable is above 0 (hazard H9).
 *
 * With all slots taken (a scale-up the view has not seen yet) the next one above is taken: its side is fixed too.
 */
export function chooseSlot(request: SlotRequest): ChosenSlot {
  const { view, sides, workload, rule, now } = request;
  const revisions = knownRevisions(request);
  const ownPods = revisions.filter(({ revision }) => revision === request.revision).flatMap((each) => each.pods);
  const otherPods = revisions.filter(({ revision }) => revision !== request.revision).flatMap((each) => each.pods);
  const own = takeCensus(view, sides, ownPods);
  const others = takeCensus(view, sides, otherPods);
  let claims = request.ledger.outstanding(workload.uid, [...ownPods, ...otherPods], now);
  const superseded: string[] = [];
  for (;;) {
    const ownClaims = claims.filter((claim) => claim.revision === request.revision);
    const free = freeSlots({ view, sides, workload, rule, census: own, claims: ownClaims });
    const hasFree = free.spot !== undefined || free.onDemand !== undefined;
    const doubtful = hasFree ? undefined : ownClaims.find((claim) => claim.at + DOUBTFUL_AFTER_MILLIS <= now);
    if (doubtful === undefined) {
      const live = own.live + others.live;
      const onDemand = own.onDemand + others.onDemand + claims.filter(({ side }) => side === 'on-demand').length;
      const total = live + claims.length + 1;
      const wanted = request.pinned ?? (onDemand < onDemandCount(rule, total) ? 'on-demand' : 'spot');
      // With a rollout's surge: the pods that it replaces cover until the new ones do, and must not keep them from it.
      const size = Math.max(total, workload.replicas);
      const mayCover = onDemand + 1 - onDemandCount(rule, size) <= request.maxExcess(size);
      const taken = coverFor(request, take(request, wanted, free), free, mayCover);
      return { ...taken, live, claimed: claims.length, onDemand, superseded };
    }
    superseded.push(doubtful.uid);
    claims = claims.filter((claim) => claim !== doubtful);
  }
}

function knownRevisions({ view, workload, revision, replicaSetUid }: SlotRequest): readonly RevisionPods[] {
  const known = revisionsOf(view, workload);
  if (replicaSetUid === undefined || known.some(({ replicaSet }) => replicaSet?.uid === replicaSetUid)) return known;
  return [...known, { revision, replicaSet: undefined, pods: podsOwnedBy(view, workload.namespace, replicaSetUid) }];
}

function take(
  { pinned, rule, lacksRoom }: SlotRequest,
  wanted: Side,
  free: FreeSlots,
): Placement & { readonly diverted: boolean } {
  const [same, other] = wanted === 'spot' ? [free.spot, free.onDemand] : [free.onDemand, free.spot];
  if (pinned !== undefined) return { slot: same ?? other ?? free.above(), side: pinned, diverted: false };
  if (same === undefined) {
    const slot = other ?? free.above();
    return { slot, side: sideOfSlot(rule, slot), diverted: false };
  }
  const isDiverted = other !== undefined && lacksRoom(wanted) && !lacksRoom(oppositeOf(wanted));
  return isDiverted
    ? { slot: other, side: oppositeOf(wanted), diverted: true }
    : { slot: same, side: wanted, diverted: false };
}

/**
 * Where spot cannot be had, a place of on-demand that is still free will do; else on-demand covers for the slot, which
 * keeps its side, so that the pod goes back later. With no room on on-demand either, the pod waits where it belongs.
 */
function coverFor(
  { pinned, lacksRoom, mayUseSpot }: SlotRequest,
  taken: Placement & { readonly diverted: boolean },
  free: FreeSlots,
  mayCover: boolean,
): Placement & Pick<ChosenSlot, 'diverted' | 'cover'> {
  if (taken.side !== 'spot' || pinned !== undefined || mayUseSpot() || lacksRoom('on-demand')) {
    return { ...taken, cover: false };
  }
  if (free.onDemand !== undefined) return { slot: free.onDemand, side: 'on-demand', diverted: true, cover: false };
  return mayCover ? { ...taken, side: 'on-demand', cover: true } : { ...taken, cover: false };
}
