/** Which pod (or reservation) holds which slot, and so which slots are free and which pods are on the wrong side. */
import type { ClusterView } from '../../model/cluster-view.ts';
import { firstOrdinal, isLive, ordinalOf } from '../../model/owners.ts';
import type { NodeClass, PodRecord, Side, WorkloadRecord } from '../../model/records.ts';
import type { Sides } from '../../model/sides.ts';
import { type SlotRule, spotCount } from './slots.ts';

/** Something that holds a slot: a live pod, or a claim for one that is still to come. */
export interface Occupant {
  readonly pod: PodRecord | undefined;
  /** The stamped or claimed slot. */
  readonly slot: number | undefined;
  /** The side it is on, or will be on. */
  readonly side: NodeClass;
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
  if (pod.nodeName !== undefined) {
    const node = view.node(pod.nodeName);
    return node === undefined ? 'unknown' : sides.classOf(node);
  }
  const pinned = sides.pinnedSide(pod.template);
  return pinned === 'spot' || pinned === 'on-demand' ? pinned : (pod.capacity ?? 'unknown');
}

/** The occupants among `pods`: terminating, Failed and Succeeded ones hold no slot. */
export function occupantsOf(
  view: ClusterView,
  sides: Sides,
  workload: WorkloadRecord,
  pods: readonly PodRecord[],
): Occupant[] {
  const isStatefulSet = workload.rollout.type === 'StatefulSet';
  const occupants: Occupant[] = [];
  for (const pod of pods) {
    if (!isLive(pod)) continue;
    const slot = isStatefulSet ? statefulSlot(workload, pod.name) : pod.slot;
    occupants.push({ pod, slot, side: actualSide(view, sides, pod), since: pod.createdAt, id: pod.uid });
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
 * whose own slot is right, then, eldest first, the lowest free slot of their side; what is left over stands on the wrong
 * side, in the free slots that remain and then above `replicas`.
 *
 * @param fixed a StatefulSet: slots follow from ordinals and are never exchanged.
 */
export function assignSlots(
  rule: SlotRule,
  replicas: number,
  occupants: readonly Occupant[],
  options: { readonly fixed?: boolean } = {},
): Assignment {
  const wantedSides = sidesOfSlots(rule, replicas);
  const holders = new Array<Occupant | undefined>(replicas + 1);
  const above = new Set<number>();
  const placed: Placed[] = [];
  const place = (occupant: Occupant, slot: number): void => {
    if (slot <= replicas) holders[slot] = occupant;
    else above.add(slot);
    placed.push({ ...occupant, held: slot, wanted: wantedSides[slot] ?? sideAt(rule, slot) });
  };

  const waiting = settle(
    occupants,
    (occupant) => {
      const { slot } = occupant;
      if (slot === undefined) return undefined;
      if (options.fixed === true) return slot;
      return slot <= replicas && (occupant.side === 'unknown' || occupant.side === wantedSides[slot])
        ? slot
        : undefined;
    },
    place,
  );

  const free = { spot: [] as number[], 'on-demand': [] as number[] };
  for (let slot = 1; slot <= replicas; slot++) {
    if (holders[slot] === undefined) free[wantedSides[slot] ?? 'on-demand'].push(slot);
  }
  const next = { spot: 0, 'on-demand': 0 };
  const leftOver: Occupant[] = [];
  for (const occupant of waiting) {
    const slot = occupant.side === 'unknown' ? undefined : free[occupant.side][next[occupant.side]];
    if (occupant.side === 'unknown' || slot === undefined) leftOver.push(occupant);
    else {
      next[occupant.side]++;
      place(occupant, slot);
    }
  }
  // Who is left over finds only slots of the other side, or is of unknown side; those of on-demand go last, so that an
  // unknown one does not pass for the floor.
  const remaining = [...free.spot.slice(next.spot), ...free['on-demand'].slice(next['on-demand'])];
  const stillFree = remaining.splice(leftOver.length);
  // Slots above are not handed out while a pod carries their stamp, even if it holds another one at the moment.
  const stampedAbove = new Set<number>();
  for (const { slot } of occupants) if (slot !== undefined && slot > replicas) stampedAbove.add(slot);
  const lowestAbove = (): number => {
    let slot = replicas + 1;
    while (above.has(slot) || stampedAbove.has(slot)) slot++;
    return slot;
  };
  for (const occupant of leftOver) {
    const { slot } = occupant;
    const own = slot !== undefined && slot > replicas && !above.has(slot) ? slot : undefined;
    place(occupant, remaining.shift() ?? own ?? lowestAbove());
  }
  return {
    placed,
    free: {
      spot: stillFree.filter((slot) => wantedSides[slot] === 'spot'),
      onDemand: stillFree.filter((slot) => wantedSides[slot] === 'on-demand'),
    },
    nextAbove: lowestAbove(),
  };
}

/** Places every occupant that `slotOf` gives a slot; of several for one slot the eldest. Returns the others, eldest first. */
function settle(
  occupants: readonly Occupant[],
  slotOf: (occupant: Occupant) => number | undefined,
  place: (occupant: Occupant, slot: number) => void,
): Occupant[] {
  const bySlot = new Map<number, Occupant>();
  const waiting: Occupant[] = [];
  for (const occupant of occupants) {
    const slot = slotOf(occupant);
    const rival = slot === undefined ? undefined : bySlot.get(slot);
    if (slot === undefined) waiting.push(occupant);
    else if (rival === undefined) bySlot.set(slot, occupant);
    else if (preferred(occupant, rival)) {
      bySlot.set(slot, occupant);
      waiting.push(rival);
    } else waiting.push(occupant);
  }
  for (const [slot, occupant] of bySlot) place(occupant, slot);
  return waiting.sort((a, b) => (preferred(a, b) ? -1 : 1));
}

/** Pods before claims, a known side before an unknown one, then the elder. */
function preferred(a: Occupant, b: Occupant): boolean {
  if ((a.pod === undefined) !== (b.pod === undefined)) return a.pod !== undefined;
  if ((a.side === 'unknown') !== (b.side === 'unknown')) return a.side !== 'unknown';
  return a.since < b.since || (a.since === b.since && a.id < b.id);
}

/** Sides of the slots 1..replicas, by slot. */
function sidesOfSlots(rule: SlotRule, replicas: number): readonly (Side | undefined)[] {
  const sides: (Side | undefined)[] = [undefined];
  let before = 0;
  for (let slot = 1; slot <= replicas; slot++) {
    const spot = spotCount(rule, slot);
    sides.push(spot > before ? 'spot' : 'on-demand');
    before = spot;
  }
  return sides;
}

function sideAt(rule: SlotRule, slot: number): Side {
  return spotCount(rule, slot) > spotCount(rule, slot - 1) ? 'spot' : 'on-demand';
}
