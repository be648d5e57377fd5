/**
 * What was told about which object in the last hour, so that a state that lasts makes one event an hour and not one a
 * pass.
 */
import type { Clock } from '../lib/clock.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';

export interface OnceAnHour {
  /**
   * Whether the matter is due to be told; if so, it counts as told from now on. Matters of one object are few: each
   * stays for an hour, and all of them until the object is forgotten. Beyond a hundred, no more are told.
   */
  isDue(uid: string, matter: string): boolean;
  /** Forgets an object that is gone. */
  forget(uid: string): void;
}

const HOUR_MILLIS: Millis = 3_600_000;
/** A matter may be an annotation, and somebody may write another one each second. */
const MOST_MATTERS = 100;

export function createOnceAnHour(clock: Clock): OnceAnHour {
  const told = new Map<string, Map<string, EpochMillis>>();
  return {
    isDue(uid, matter) {
      const matters = told.get(uid) ?? new Map<string, EpochMillis>();
      told.set(uid, matters);
      const now = clock.now();
      // Instants ahead of now are from before the machine's clock was set back.
      for (const [known, at] of matters) if (Math.abs(now - at) >= HOUR_MILLIS) matters.delete(known);
      if (matters.has(matter) || matters.size >= MOST_MATTERS) return false;
      matters.set(matter, now);
      return true;
    },
    forget(uid) {
      told.delete(uid);
    },
  };
}
