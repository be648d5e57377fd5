/** Notices that somebody set the machine's clock: what a process remembers by its times is then worth nothing. */
import { type Clock, pause } from '../lib/clock.ts';
import type { Millis } from '../lib/units.ts';

const LOOK_MILLIS: Millis = 5_000;
/**
 * More than clocks are corrected by in a healthy cluster, and than a process stands still without losing its lease
 * (15 s): pauses, claims and back-offs that are off by less do no harm that others do not do.
 */
const MAX_STEP_MILLIS: Millis = 30_000;

/**
 * Compares the clock with time that nobody sets: a process that stood still, or an overloaded machine, is no reason to
 * end.
 * @param monotonic milliseconds since whenever; left out: the clock's timers stand for it, which is exact in virtual time.
 * @returns `set` as soon as the clock is seen to have stepped; `stopped` when `signal` aborts.
 */
export async function watchClock(
  clock: Clock,
  signal: AbortSignal,
  monotonic?: () => Millis,
): Promise<'set' | 'stopped'> {
  // Each look is compared with the one before: a step between a comparison and the next look would be passed over.
  let [before, since] = [clock.now(), monotonic?.() ?? 0];
  while (!signal.aborted) {
    await pause(clock, LOOK_MILLIS, signal);
    const [now, at] = [clock.now(), monotonic?.() ?? since + LOOK_MILLIS];
    if (!signal.aborted && Math.abs(now - before - (at - since)) > MAX_STEP_MILLIS) return 'set';
    [before, since] = [now, at];
  }
  return 'stopped';
}
