/** Which slot a new pod of a Deployment (or any owner of ReplicaSets) takes. */
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { ClusterView } from '../../model/cluster-view.ts';
import { oppositeOf } from '../../model/node-class.ts';
import { type RevisionPods, revisionsOf } from '../../model/owners.ts';
import type { Side, WorkloadRecord } from '../../model/records.ts';
import type { Sides } from '../../model/sides.ts';
import type { Placement } from './admission-decision.ts';
import { type Assignment, assignSlots, type Occupant, occupantsOf } from './assignment.ts';
import type { Claim, ClaimLedger } from './claims.ts';
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
  /** Whether a side is known to have no room for the pod, and whether it has. Asked only where it matters. */
  readonly lacksRoom: (side: Side) => boolean;
  readonly now: EpochMillis;
}

/** A slot with the numbers that led to it. */
export interface ChosenSlot extends Placement {
  readonly live: number;
  readonly claimed: number;
  readonly onDemand: number;
  /** The side asked for had no room, so the other one was taken. */
  readonly diverted: boolean;
  /** Claims given up for this one: their pods never came and all slots were taken. */
  readonly superseded: readonly string[];
}

/** A claim unseen for this long may be taken over when slots run out: a created pod shows up in a watch within a second. */
const DOUBTFUL_AFTER_MILLIS: Millis = 5000;

/**
 * The wanted side comes from the union of all revisions: on-demand while fewer than onDemand(n) of the n pods (this one
 * included) are there, else spot. So a rollout replaces each pod on the side that was just freed. Then the lowest free
 * slot of that side in the pod's own revision, else of the other side. A revision that has all its pods is exact
 * whatever the order was.
 *
 * With all slots taken (a scale-up the view has not seen yet) the next one above is taken: its side is fixed too.
 */
export function chooseSlot(request: SlotRequest): ChosenSlot {
  const { view, sides, workload, rule, now } = request;
  const revisions = knownRevisions(request);
  let own: readonly Occupant[] = [];
  let live = 0;
  let onDemandPods = 0;
  for (const each of revisions) {
    const occupants = occupantsOf(view, sides, workload, each.pods);
    live += occupants.length;
    onDemandPods += countOnDemand(occupants);
    if (each.revision === request.revision) own = own.length === 0 ? occupants : own.concat(occupants);
  }
  const pods = revisions.flatMap((revision) => revision.pods);
  let claims = request.ledger.outstanding(workload.uid, pods, now);
  const superseded: string[] = [];
  for (;;) {
    const ownClaims = claims.filter((claim) => claim.revision === request.revision);
    const assignment = assignSlots(rule, workload.replicas, own.concat(ownClaims.map(claimOccupant)));
    const hasFree = assignment.free.spot.length + assignment.free.onDemand.length > 0;
    const doubtful = hasFree ? undefined : ownClaims.find((claim) => claim.at + DOUBTFUL_AFTER_MILLIS <= now);
    if (doubtful === undefined) {
      const onDemand = onDemandPods + countOnDemand(claims);
      const total = live + claims.length + 1;
      const wanted = request.pinned ?? (onDemand < onDemandCount(rule, total) ? 'on-demand' : 'spot');
      const numbers = { live, claimed: claims.length, onDemand, superseded };
      return { ...take(request, wanted, assignment), ...numbers };
    }
    superseded.push(doubtful.uid);
    claims = claims.filter((claim) => claim !== doubtful);
  }
}

function knownRevisions({ view, workload, revision, replicaSetUid }: SlotRequest): readonly RevisionPods[] {
  const known = revisionsOf(view, workload);
  if (replicaSetUid === undefined || known.some(({ replicaSet }) => replicaSet?.uid === replicaSetUid)) return known;
  return [...known, { revision, replicaSet: undefined, pods: view.podsOwnedBy(replicaSetUid) }];
}

function take(request: SlotRequest, wanted: Side, assignment: Assignment): Placement & { readonly diverted: boolean } {
  const freeOn = (side: Side): number | undefined =>
    side === 'spot' ? assignment.free.spot[0] : assignment.free.onDemand[0];
  const same = freeOn(wanted);
  const other = freeOn(oppositeOf(wanted));
  if (request.pinned !== undefined) {
    return { slot: same ?? other ?? assignment.nextAbove, side: request.pinned, diverted: false };
  }
  if (same === undefined) {
    const slot = other ?? assignment.nextAbove;
    return { slot, side: sideOfSlot(request.rule, slot), diverted: false };
  }
  const isDiverted = other !== undefined && request.lacksRoom(wanted) && !request.lacksRoom(oppositeOf(wanted));
  return isDiverted
    ? { slot: other, side: oppositeOf(wanted), diverted: true }
    : { slot: same, side: wanted, diverted: false };
}

function claimOccupant(claim: Claim): Occupant {
  return { pod: undefined, slot: claim.slot, side: claim.side, since: claim.at, id: claim.uid };
}

function countOnDemand(occupants: Iterable<{ readonly side: string }>): number {
  let count = 0;
  for (const { side } of occupants) if (side === 'on-demand') count++;
  return count;
}
