/** Times that other processes of ours wrote down, by the clocks of their machines. */
import type { EpochMillis, Millis } from './units.ts';

/** By which the clocks of two of them may differ. */
export const SKEW_MILLIS: Millis = 60_000;

/** What is further ahead was not dated by a clock that is off, but by mistake. */
const MOST_AHEAD_MILLIS: Millis = 86_400_000;

/** Undefined for a time of the future: it is none of ours, and believed it would hold back every change until then. */
export function pastTime(at: EpochMillis | undefined, now: EpochMillis): EpochMillis | undefined {
  return at !== undefined && at <= now + SKEW_MILLIS ? at : undefined;
}

/**
 * What to go on with of a time that another leader wrote: one that is a little in the future counts as now, as a pause
 * that began then is not over. To be asked once, or it would always be now.
 */
export function takenOver(at: EpochMillis | undefined, now: EpochMillis): EpochMillis | undefined {
  return at !== undefined && at <= now + MOST_AHEAD_MILLIS ? Math.min(at, now) : undefined;
}
