/**
 * Disruptions under way, of every engine: pods asked to go and not seen gone, and rollouts. The cluster-wide budget
 * counts these.
 */
import type { InFlightEviction } from '../guard/context.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';

/** Of this process: a new leader fills it from what it sees, see adopt-disruptions.ts. */
export interface EvictionsInFlight {
  /**
   * What holds a place at this time. Gives back the places of what is stuck, and tells `onFreed`.
   */
  list(now: EpochMillis): readonly InFlightEviction[];
  /** One entry a pod: adding it again starts its time anew. */
  add(eviction: InFlightEviction): void;
  /** @returns whether it was in flight. */
  remove(podUid: string): boolean;
  /**
   * Calls back when a place of the budget comes free: during `remove`, or during `list` where one ran out of time.
   * @returns how to end it.
   */
  onFreed(listener: () => void): () => void;
}

const MOST_GRACE_MILLIS: Millis = 3_600_000;

/**
 * How much of a grace period others wait for. Some programs are given a day or a week to end (RabbitMQ's operator gives
 * 604,800 s): a few of them would stop all disruptions of the cluster for as long.
 */
export function countedGrace(graceMillis: Millis): Millis {
  return Math.min(graceMillis, MOST_GRACE_MILLIS);
}

/**
 * @param limitMillis a pod that does not end (a finalizer, a dead node) gives its place back this long after its grace
 * period is over, as far as that counts, and a rollout this long after it last went on; asked each time.
 */
export function createEvictionsInFlight(limitMillis: () => Millis): EvictionsInFlight {
  const byPod = new Map<string, InFlightEviction>();
  const listeners = new Set<() => void>();
  const tellFreed = (): void => {
    for (const listener of listeners) listener();
  };
  return {
    list(now) {
      const limit = limitMillis();
      let isFreed = false;
      for (const eviction of byPod.values()) {
        if (stuckFrom(eviction, limit) <= now) isFreed = byPod.delete(eviction.podUid) || isFreed;
      }
      // Told like any other place: nobody else would wake who waits for this one.
      if (isFreed) tellFreed();
      return [...byPod.values()];
    },
    add(eviction) {
      byPod.set(eviction.podUid, eviction);
    },
    remove(podUid) {
      const was = byPod.delete(podUid);
      if (was) tellFreed();
      return was;
    },
    onFreed(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** When a disruption that is not seen to end, or to go on, gives its place back. */
function stuckFrom(eviction: InFlightEviction, limit: Millis): EpochMillis {
  const { since } = eviction;
  if (eviction.isRollout) return (eviction.wentOnAt ?? since) + limit;
  return since + countedGrace(eviction.graceMillis ?? 0) + limit;
}
