/**
 * How many evictions a history can explain. A move is due only where somebody changed what is wanted, or where a pod came
 * to be on a side that is not that of its place: admitted while the webhook was down, without the leader, or as cover for
 * spot that was not to be had. "Evictions in total <= initial drift + fallbacks" of the specification, counted as it goes.
 */
import { sideOfSlot, spotCount } from '../decide/placement/slots.ts';
import type { WorkloadFacts } from './fleet-watch.ts';
import type { PodFacts } from './pod-facts.ts';

export interface EvictionBound {
  onWorkload(facts: WorkloadFacts, before: WorkloadFacts | undefined): void;
  onPodAdded(facts: WorkloadFacts, pod: PodFacts): void;
  /** Evictions due so far. */
  total(): number;
}

export function createEvictionBound(): EvictionBound {
  let total = 0;
  return {
    onWorkload(facts, before) {
      const { rule, replicas, counts } = facts;
      if (rule === undefined || before === undefined) return;
      if (before.rule === undefined) total += Math.abs(counts.spot - facts.targetSpot);
      else if (before.rule !== rule)
        total += Math.abs(spotCount(rule, before.replicas) - spotCount(before.rule, before.replicas));
      // Kubernetes removes pods that are not ready before it looks at their cost, so places go out of order.
      const removed = Math.max(0, before.replicas - replicas);
      const outOfOrder = [...facts.pods.values()].filter(
        (pod) => pod.isLive && (!pod.isReady || pod.slot === undefined),
      );
      total += Math.min(removed, outOfOrder.length);
    },
    onPodAdded({ rule }, { slot, capacity, isUnconfirmed }) {
      if (rule === undefined) return;
      const isMisplaced = slot === undefined || capacity !== sideOfSlot(rule, slot);
      if (isMisplaced || isUnconfirmed) total++;
    },
    total: () => total,
  };
}
