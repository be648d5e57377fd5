/**
 * How many evictions a history can explain. A move is due only where somebody changed what is wanted, or where a pod came
 * to be on a side that is not that of its place: admitted while the webhook was down, without the leader, or as cover for
 * spot that was not to be had. "Evictions in total <= initial drift + fallbacks" of the specification, counted as it goes.
 */
import { sideOfSlot, spotCount } from '../decide/placement/slots.ts';
import type { Clock } from '../lib/clock.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import type { WorkloadFacts } from './fleet-watch.ts';
import type { PodFacts } from './pod-facts.ts';

/** Why moves are due. */
export type Due =
  | 'management began'
  | 'policy changed'
  | 'places out of order'
  | 'not steered'
  | 'cover'
  | 'unconfirmed';

/** From the decision of a controller that there should be one more pod to the pod. */
const MAKING_MILLIS: Millis = 10_000;

/** Counts up only: a due that was never used stays due. */
export interface EvictionBound {
  onWorkload(facts: WorkloadFacts, before: WorkloadFacts | undefined): void;
  /** @param isRefused others of it may have been admitted and then refused, by a quota: their places were kept. */
  onPodAdded(facts: WorkloadFacts, pod: PodFacts, isRefused?: boolean): void;
  /** Evictions due so far, of one workload. */
  of(workloadUid: string): number;
  /** One line: how many are due for which reason. */
  describe(workloadUid: string): string;
  /** Evictions due so far, of all workloads. */
  total(): number;
}

export function createEvictionBound(clock: Pick<Clock, 'now'>): EvictionBound {
  const shrunkAt = new Map<string, EpochMillis>();
  const byWorkload = new Map<string, Map<Due, number>>();
  const add = ({ uid }: WorkloadFacts, why: Due, count: number): void => {
    if (count === 0) return;
    const due = byWorkload.get(uid) ?? new Map<Due, number>();
    byWorkload.set(uid, due.set(why, (due.get(why) ?? 0) + count));
  };
  const sumOf = (due: ReadonlyMap<Due, number> | undefined): number =>
    [...(due?.values() ?? [])].reduce((sum, each) => sum + each, 0);
  return {
    onWorkload(facts, before) {
      const { rule, replicas, counts, targetSpot } = facts;
      if (rule === undefined || before === undefined) return;
      if (before.rule === undefined) add(facts, 'management began', Math.abs(counts.spot - targetSpot));
      else if (before.rule !== rule) {
        const moves = Math.abs(spotCount(rule, before.replicas) - spotCount(before.rule, before.replicas));
        add(facts, 'policy changed', moves);
      }
      // Kubernetes removes pods that are not ready before it looks at their cost, so places go out of order.
      const removed = Math.max(0, before.replicas - replicas);
      if (removed > 0) shrunkAt.set(facts.uid, clock.now());
      const outOfOrder = [...facts.pods.values()].filter(
        (pod) => pod.isLive && (!pod.isReady || pod.slot === undefined),
      );
      add(facts, 'places out of order', Math.min(removed, outOfOrder.length));
    },
    onPodAdded(facts, { slot, capacity, isUnconfirmed, isCover }, isRefused = false) {
      const { rule, replicas, uid } = facts;
      if (rule === undefined) return;
      const isBeyond = slot !== undefined && slot > replicas;
      // It was being made while the workload shrank; which one goes in its place is not known.
      const isLate = clock.now() - (shrunkAt.get(uid) ?? Number.NEGATIVE_INFINITY) < MAKING_MILLIS;
      if (isBeyond && (isLate || isRefused)) add(facts, 'places out of order', 1);
      if (slot === undefined) add(facts, 'not steered', 1);
      else if (capacity !== sideOfSlot(rule, slot) || isCover) add(facts, 'cover', 1);
      else if (isUnconfirmed) add(facts, 'unconfirmed', 1);
    },
    of: (uid) => sumOf(byWorkload.get(uid)),
    describe: (uid) => [...(byWorkload.get(uid) ?? [])].map(([why, count]) => `${count} ${why}`).join(', '),
    total: () => [...byWorkload.values()].reduce((sum, due) => sum + sumOf(due), 0),
  };
}
