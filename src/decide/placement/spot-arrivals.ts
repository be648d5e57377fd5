/** Pods of all workloads that were sent to spot and have no node yet. No I/O; fed by whoever sees the pods. */
import type { EpochMillis, Millis } from '../../lib/units.ts';

export interface SpotArrivals {
  /** The pod is there, and no scheduler has answered for it. Told again it set out no later. */
  setOut(podUid: string, at: EpochMillis): void;
  /** It has a node, none was found for it, or it is gone. */
  arrived(podUid: string): void;
  /** How many may take room at any moment. */
  onTheirWay(now: EpochMillis): number;
}

/** Whom no scheduler looks at for so long, as it is gated or its scheduler is down, takes no room soon. */
const DECIDED_WITHIN_MILLIS: Millis = 60_000;

export function createSpotArrivals(): SpotArrivals {
  const since = new Map<string, EpochMillis>();
  return {
    setOut(podUid, at) {
      if (!since.has(podUid)) since.set(podUid, at);
    },
    arrived: (podUid) => void since.delete(podUid),
    onTheirWay: (now) => [...since.values()].filter((at) => now - at < DECIDED_WITHIN_MILLIS).length,
  };
}
