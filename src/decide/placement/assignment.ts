/** Which pod (or reservation) holds which slot, and so which slots are free and which pods are on the wrong side. */
import type { ClusterView } from '../../model/cluster-view.ts';
import { firstOrdinal, isLive, ordinalOf } from '../../model/owners.ts';
import type { NodeClass, PodRecord, Side, WorkloadRecord } from '../../model/records.ts';
import type { Sides } from '../../model/sides.ts';
import { type SlotRule, sideOfSlot, slotsFor, spotSlotsOf } from './slots.ts';

/** Something that holds a slot: a live pod, or a claim for one that is still to come. */
export interface Occupant {
  readonly pod: PodRecord | undefined;
  /** The stamped or claimed slot. */
  readonly slot: number | undefined;
  /** The side it is on, or will be on. */
  readonly side: NodeClass;
  /** On on-demand for its slot of spot, which it is to keep; default false. */
  readonly isCover?: boolean;
  /** Elder occupants come first; ties are broken by `id`. */
  readonly since: number;
  readonly id: string;
}

export interface Placed extends Occupant {
  /** The slot it holds: its own, or a virtual one. */
  readonly held: number;
  /** The side of that slot. */
  readonly wanted: Side;
}

export interface Assignment {
  readonly placed: readonly Placed[];
  /** Free slots in 1..replicas, lowest first, by side. */
  readonly free: { readonly spot: readonly number[]; readonly onDemand: readonly number[] };
  /** The lowest free slot above `replicas`. */
  readonly nextAbove: number;
}

/**
 * Where a pod is: the class of its node when bound, else the side its constraints or its stamp name.
 * `unknown` when that cannot be told; it then counts for neither side.
 */
export function actualSide(view: ClusterView, sides: Sides, pod: PodRecord): NodeClass {
  if (pod.nodeName !== undefined) return classOfNode(view, sides, pod.nodeName);
  const pinned = sides.pinnedSide(pod.template);
  return pinned === 'spot' || pinned === 'on-demand' ? pinned : (pod.capacity ?? 'unknown');
}

function classOfNode(view: ClusterView, sides: Sides, nodeName: string): NodeClass {
  const node = view.node(nodeName);
  return node === undefined ? 'unknown' : sides.classOf(node);
}

/**
 * The occupants among `pods`: terminating, Failed and Succeeded ones hold no slot.
 * @param options.coversStay temporary cover keeps the slot of spot it covers for; else it counts where it runs.
 */
export function occupantsOf(
  view: ClusterView,
  sides: Sides,
  workload: WorkloadRecord,
  pods: readonly PodRecord[],
  options: { readonly coversStay?: boolean } = {},
): Occupant[] {
  const isStatefulSet = workload.rollout.type === 'StatefulSet';
  const occupants: Occupant[] = [];
  for (const pod of pods) {
    if (!isLive(pod)) continue;
    const slot = isStatefulSet ? statefulSlot(workload, pod.name) : pod.slot;
    const side = actualSide(view, sides, pod);
    const isCover = options.coversStay === true && pod.fallback && side === 'on-demand';
    occupants.push({ pod, slot, side, isCover, since: pod.createdAt, id: pod.uid });
  }
  return occupants;
}

/** A StatefulSet's slot is its ordinal counted from 1; undefined for a name that has none. */
export function statefulSlot(workload: WorkloadRecord, podName: string): number | undefined {
  const ordinal = ordinalOf(podName, workload.name);
  const slot = ordinal === undefined ? 0 : ordinal - firstOrdinal(workload) + 1;
  return slot >= 1 ? slot : undefined;
}

/**
 * Gives every occupant of one revision a slot so that as many as possible stand on the side of their slot: first those
 * whose own slot is right, then, eldest first, the lowest free slot of their side; what is left over stands on the
 * wrong side, in the free slots that remain and then above `replicas`.
 *
 * @param asked replicas, of which {@link slotsFor} counts.
 * @param options.fixed a StatefulSet: slots follow from ordinals and are never exchanged.
 */
export function assignSlots(
  rule: SlotRule,
  asked: number,
  occupants: readonly Occupant[],
  options: { readonly fixed?: boolean } = {},
): Assignment {
  const replicas = slotsFor(asked);
  const spotSlots = spotSlotsOf(rule, replicas);
  const { heldBy, waiting } = settle(occupants, replicas, spotSlots, options.fixed === true);
  const held = new Map<Occupant, number>();
  const free: Record<Side, number[]> = { spot: [], 'on-demand': [] };
  for (let slot = 1; slot <= replicas; slot++) {
    if (heldBy[slot] === undefined) free[spotSlots[slot] === 1 ? 'spot' : 'on-demand'].push(slot);
  }
  const leftOver: Occupant[] = [];
  const next: Record<Side, number> = { spot: 0, 'on-demand': 0 };
  for (const occupant of waiting) {
    const slot = occupant.side === 'unknown' ? undefined : free[occupant.side][next[occupant.side]];
    if (occupant.side === 'unknown' || slot === undefined) leftOver.push(occupant);
    else {
      next[occupant.side]++;
      held.set(occupant, slot);
    }
  }
  // Who is left over finds only slots of the other side, or is of unknown side; those of on-demand go last, so that an
  // unknown one does not pass for the floor.
  const above = new Set<number>();
  let [spot, onDemand] = [free.spot.slice(next.spot), free['on-demand'].slice(next['on-demand'])];
  const lowestAbove = firstFree(replicas, occupants, above);
  for (const occupant of leftOver) {
    const { slot } = occupant;
    const own = slot !== undefined && slot > replicas && !above.has(slot) ? slot : undefined;
    const taken = spot[0] ?? onDemand[0] ?? own ?? lowestAbove();
    if (spot.length > 0) spot = spot.slice(1);
    else if (onDemand.length > 0) onDemand = onDemand.slice(1);
    else above.add(taken);
    held.set(occupant, taken);
  }
  return {
    // Built when asked for: admission only wants to know what is free.
    get placed() {
      const waited = new Set(waiting);
      return occupants.map((occupant): Placed => {
        const slot = (waited.has(occupant) ? held.get(occupant) : occupant.slot) ?? 0;
        return { ...occupant, held: slot, wanted: sideOfSlot(rule, slot) };
      });
    },
    free: { spot, onDemand },
    get nextAbove() {
      return lowestAbove();
    },
  };
}

interface Settled {
  /** By slot; beyond `replicas` by ordinals only. */
  readonly heldBy: readonly (Occupant | undefined)[];
  /** Who has no slot yet, eldest first. */
  readonly waiting: readonly Occupant[];
}

/** Leaves every occupant its own slot where that is right; of several for one slot the preferred one. */
function settle(occupants: readonly Occupant[], replicas: number, spotSlots: Uint8Array, isFixed: boolean): Settled {
  const heldBy: (Occupant | undefined)[] = new Array(replicas + 1).fill(undefined);
  const waiting: Occupant[] = [];
  for (const occupant of occupants) {
    const { slot, side } = occupant;
    const isAbove = slot !== undefined && slot > replicas;
    const isRight =
      isFixed || occupant.isCover === true || side === 'unknown' || (side === 'spot') === (spotSlots[slot ?? 0] === 1);
    if (slot === undefined || (isAbove ? !isFixed : !isRight)) {
      waiting.push(occupant);
      continue;
    }
    const rival = heldBy[slot];
    if (rival !== undefined) waiting.push(isPreferred(occupant, rival) ? rival : occupant);
    if (rival === undefined || isPreferred(occupant, rival)) heldBy[slot] = occupant;
  }
  waiting.sort((a, b) => (isPreferred(a, b) ? -1 : 1));
  return { heldBy, waiting };
}

/** Pods before claims, a known side before an unknown one, then the elder. */
function isPreferred(a: Occupant, b: Occupant): boolean {
  if ((a.pod === undefined) !== (b.pod === undefined)) return a.pod !== undefined;
  if ((a.side === 'unknown') !== (b.side === 'unknown')) return a.side !== 'unknown';
  return a.since < b.since || (a.since === b.since && a.id < b.id);
}

/**
 * The lowest slot above `replicas` that nobody holds. One that a pod is stamped with is not handed out again while the
 * pod lives, even if the pod holds another one at the moment.
 */
function firstFree(replicas: number, occupants: readonly Occupant[], above: ReadonlySet<number>): () => number {
  return () => {
    const stamped = new Set<number>();
    for (const { slot } of occupants) if (slot !== undefined && slot > replicas) stamped.add(slot);
    let slot = replicas + 1;
    while (above.has(slot) || stamped.has(slot)) slot++;
    return slot;
  };
}
