/**
 * How many evictions a history can explain. A move is due only where somebody changed what is wanted, or where a pod came
 * to be on a side that is not that of its place: admitted while the webhook was down, without the leader, or as cover for
 * spot that was not to be had. "Evictions in total <= initial drift + fallbacks" of the specification, counted as it goes.
 */
import { type SlotRule, sideOfSlot, spotCount } from '../decide/placement/slots.ts';
import { ordinalOf } from '../model/owners.ts';
import type { WorkloadFacts } from './fleet-watch.ts';
import type { Ledger } from './ledger.ts';
import type { PodFacts } from './pod-facts.ts';

/** Why moves are due. */
export type Due =
  | 'management began'
  | 'policy changed'
  | 'places out of order'
  | 'not steered'
  | 'cover'
  | 'unconfirmed';

/** Counts up only: a due that was never used stays due. */
export interface EvictionBound {
  onWorkload(facts: WorkloadFacts, before: WorkloadFacts | undefined): void;
  onPodAdded(facts: WorkloadFacts, pod: PodFacts): void;
  /** A pod was evicted, for placement: no more may be than are due. */
  onEvicted(facts: WorkloadFacts): void;
  /** One line: how many are due for which reason. */
  describe(workloadUid: string): string;
  /** Evictions due so far, of all workloads. */
  total(): number;
}

export function createEvictionBound({ check }: Pick<Ledger, 'check'>): EvictionBound {
  const byWorkload = new Map<string, Map<Due, number>>();
  const evictions = new Map<string, number>();
  const add = ({ uid }: WorkloadFacts, why: Due, count: number): void => {
    if (count === 0) return;
    const due = byWorkload.get(uid) ?? new Map<Due, number>();
    byWorkload.set(uid, due.set(why, (due.get(why) ?? 0) + count));
  };
  const sumOf = (due: ReadonlyMap<Due, number> | undefined): number =>
    [...(due?.values() ?? [])].reduce((sum, each) => sum + each, 0);
  const describe = (uid: string): string =>
    [...(byWorkload.get(uid) ?? [])].map(([why, count]) => `${count} ${why}`).join(', ');
  return {
    onWorkload(facts, before) {
      const { rule, replicas, counts, targetSpot } = facts;
      if (rule === undefined || before === undefined) return;
      if (before.rule === undefined)
        add(facts, 'management began', Math.max(Math.abs(counts.spot - targetSpot), misplaced(facts, rule)));
      else if (before.rule !== rule) {
        const moves = Math.abs(spotCount(rule, before.replicas) - spotCount(before.rule, before.replicas));
        add(facts, 'policy changed', Math.max(moves, turnedPlaces(facts, before.rule, rule)));
      }
      // Kubernetes removes pods that are not ready before it looks at their cost, so places go out of order.
      const removed = Math.max(0, before.replicas - replicas);
      const outOfOrder = [...facts.pods.values()].filter(
        (pod) => pod.isLive && (!pod.isReady || pod.slot === undefined),
      );
      add(facts, 'places out of order', Math.min(removed, outOfOrder.length));
    },
    onPodAdded(facts, { slot, capacity, isUnconfirmed, isCover }) {
      const { rule, replicas } = facts;
      if (rule === undefined) return;
      // All places seemed taken: the workload shrank meanwhile, a quota refused others, or somebody who went was not
      // seen to.
      if (slot !== undefined && slot > replicas) add(facts, 'places out of order', 1);
      if (slot === undefined) add(facts, 'not steered', 1);
      else if (capacity !== sideOfSlot(rule, slot) || isCover) add(facts, 'cover', 1);
      else if (isUnconfirmed) add(facts, 'unconfirmed', 1);
    },
    onEvicted({ uid, key }) {
      const count = (evictions.get(uid) ?? 0) + 1;
      evictions.set(uid, count);
      const due = sumOf(byWorkload.get(uid));
      check('bounded', count <= due, () => `${key}: ${count} evictions, ${due} explained: ${describe(uid)}`);
    },
    describe,
    total: () => [...byWorkload.values()].reduce((sum, due) => sum + sumOf(due), 0),
  };
}

/**
 * Pods of a StatefulSet whose places are of the other side by now: those do not change places with each other. Counts may
 * be right all the same, until one is made anew where its place is, or those that were still to come have been.
 */
function turnedPlaces({ kind, pods }: WorkloadFacts, before: SlotRule, after: SlotRule): number {
  if (kind !== 'StatefulSet') return 0;
  return [...pods.values()].filter(
    ({ isLive, slot }) => isLive && slot !== undefined && sideOfSlot(before, slot) !== sideOfSlot(after, slot),
  ).length;
}

/** Pods of a StatefulSet that are not on the side of their place: those to come have places of their own, and make up for none. */
function misplaced({ key, kind, pods }: WorkloadFacts, rule: SlotRule): number {
  if (kind !== 'StatefulSet') return 0;
  const setName = key.slice(key.indexOf('/') + 1);
  return [...pods.values()].filter(({ name, side, isLive }) => {
    const ordinal = ordinalOf(name, setName);
    return isLive && side !== undefined && ordinal !== undefined && side !== sideOfSlot(rule, ordinal + 1);
  }).length;
}
