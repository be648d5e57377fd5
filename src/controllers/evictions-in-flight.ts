/** Disruptions under way, of every engine: pods asked to go and not seen gone, and rollouts. The cluster-wide budget counts these. */
import type { InFlightEviction } from '../guard/context.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';

export interface EvictionsInFlight {
  list(now: EpochMillis): readonly InFlightEviction[];
  add(eviction: InFlightEviction): void;
  /** @returns whether it was in flight. */
  remove(podUid: string): boolean;
  /** Calls back when a place of the budget comes free. @returns how to end it. */
  onFreed(listener: () => void): () => void;
}

/** @param limitMillis a pod that does not end (a finalizer, a dead node) gives its place back after this time. */
export function createEvictionsInFlight(limitMillis: Millis): EvictionsInFlight {
  const byPod = new Map<string, InFlightEviction>();
  const listeners = new Set<() => void>();
  return {
    list(now) {
      for (const { podUid, since } of byPod.values()) if (since + limitMillis <= now) byPod.delete(podUid);
      return [...byPod.values()];
    },
    add(eviction) {
      byPod.set(eviction.podUid, eviction);
    },
    remove(podUid) {
      const was = byPod.delete(podUid);
      if (was) for (const listener of listeners) listener();
      return was;
    },
    onFreed(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
