/** Evictions that were asked for and whose pod has not been seen gone: the cluster-wide budget counts these. */
import type { InFlightEviction } from '../guard/context.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';

export interface EvictionsInFlight {
  list(now: EpochMillis): readonly InFlightEviction[];
  add(eviction: InFlightEviction): void;
  /** @returns whether it was in flight. */
  remove(podUid: string): boolean;
}

/** @param limitMillis a pod that does not end (a finalizer, a dead node) gives its place back after this time. */
export function createEvictionsInFlight(limitMillis: Millis): EvictionsInFlight {
  const byPod = new Map<string, InFlightEviction>();
  return {
    list(now) {
      for (const { podUid, since } of byPod.values()) if (since + limitMillis <= now) byPod.delete(podUid);
      return [...byPod.values()];
    },
    add(eviction) {
      byPod.set(eviction.podUid, eviction);
    },
    remove: (podUid) => byPod.delete(podUid),
  };
}
