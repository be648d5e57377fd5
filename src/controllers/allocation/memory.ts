/** What the allocation controller remembers of pods and namespaces beyond the history of their resizes. */
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { QuotaRecord } from '../../model/sizing-records.ts';

/** Of this process. What must outlive it is in statuses: see `recall` in engine.ts. */
export interface AllocationMemory {
  /**
   * A container restarted during a resize of ours: in place is not without a restart there. For the life of the pod.
   */
  noteRestart(podUid: string): void;
  hasRestarted(podUid: string): boolean;
  /** The CPU manager of its node is in the way of any change of its CPU. For the life of the pod. */
  notePinned(podUid: string): void;
  isPinned(podUid: string): boolean;
  /** The API server refused for want of quota although there seemed to be room. */
  noteQuotaDenied(namespace: string, quotas: readonly QuotaRecord[], now: EpochMillis): void;
  /** Until the quotas change, or a minute has passed. */
  isQuotaDenied(namespace: string, quotas: readonly QuotaRecord[], now: EpochMillis): boolean;
  forget(podUid: string): void;
}

const DENIED: Millis = 60_000;

export function createAllocationMemory(): AllocationMemory {
  const restarted = new Set<string>();
  const pinned = new Set<string>();
  const denied = new Map<string, { readonly until: EpochMillis; readonly quotas: string }>();
  const textOf = (quotas: readonly QuotaRecord[]): string => JSON.stringify(quotas);
  return {
    noteRestart: (podUid) => void restarted.add(podUid),
    hasRestarted: (podUid) => restarted.has(podUid),
    notePinned: (podUid) => void pinned.add(podUid),
    isPinned: (podUid) => pinned.has(podUid),
    noteQuotaDenied(namespace, quotas, now) {
      // Namespaces come and go, and of those that are gone nobody asks.
      for (const [known, { until }] of denied) if (until <= now) denied.delete(known);
      denied.set(namespace, { until: now + DENIED, quotas: textOf(quotas) });
    },
    isQuotaDenied(namespace, quotas, now) {
      const found = denied.get(namespace);
      if (found === undefined) return false;
      if (now < found.until && textOf(quotas) === found.quotas) return true;
      denied.delete(namespace);
      return false;
    },
    forget(podUid) {
      restarted.delete(podUid);
      pinned.delete(podUid);
    },
  };
}
