/** Tells which events of a script fell into an upheaval: what they are about may not have been there. */
import type { Clock } from '../lib/clock.ts';
import type { EpochMillis } from '../lib/units.ts';

export interface Unrest {
  /** Upheaval from now on until `work` ends. */
  during(work: () => Promise<void>): Promise<void>;
  /** Whether there was any upheaval from then on until now. */
  hasBeenSince(at: EpochMillis): boolean;
}

export function createUnrest(clock: Clock): Unrest {
  let going = 0;
  let endedAt = Number.NEGATIVE_INFINITY;
  return {
    async during(work) {
      going++;
      try {
        await work();
      } finally {
        going--;
        endedAt = clock.now();
      }
    },
    hasBeenSince: (at) => going > 0 || endedAt >= at,
  };
}
