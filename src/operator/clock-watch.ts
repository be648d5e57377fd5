/** Notices that somebody set the machine's clock: what a process remembers by its times is then worth nothing. */
import { type Clock, sleep } from '../lib/clock.ts';
import type { Millis } from '../lib/units.ts';

const LOOK_MILLIS: Millis = 5_000;
/**
 * More than clocks are corrected by in a healthy cluster, and than a process stands still without losing its lease
 * (15 s): pauses, claims and back-offs that are off by less do no harm that others do not do.
 */
const MAX_STEP_MILLIS: Millis = 30_000;

/**
 * Compares the clock with its timers, which go on regardless of it. A process that stood still for so long cannot be
 * told from a clock that was set forwards, and has as much reason to start afresh.
 * @returns `set` as soon as the clock is seen to have stepped; `stopped` when `signal` aborts.
 */
export async function watchClock(clock: Clock, signal: AbortSignal): Promise<'set' | 'stopped'> {
  while (!signal.aborted) {
    const before = clock.now();
    await sleep(clock, LOOK_MILLIS, signal).catch(() => {});
    if (!signal.aborted && Math.abs(clock.now() - before - LOOK_MILLIS) > MAX_STEP_MILLIS) return 'set';
  }
  return 'stopped';
}
