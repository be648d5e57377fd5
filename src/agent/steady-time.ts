/**
 * Epoch time that never jumps, for what the loop remembers: the wall clock at the start, carried on by monotonic time.
 * Where the wall clock is set while the agent runs, the two part; the loop then starts anew, as after a restart.
 */
import type { Clock } from '../lib/clock.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';

/** Its instants compare with those of other processes as long as no clock was set. */
export interface SteadyTime {
  now(): EpochMillis;
  /** Takes up a wall clock that was set. @returns by how much, or undefined where nothing happened. */
  correct(): Millis | undefined;
}

/** Clocks are slewed by less than this between two ticks; a larger distance is a jump. */
const JUMP: Millis = 5000;

export function createSteadyTime(clock: Clock, monotonic: () => Millis): SteadyTime {
  let base = clock.now() - monotonic();
  return {
    now: () => base + monotonic(),
    correct() {
      const fresh = clock.now() - monotonic();
      const jump = fresh - base;
      if (Math.abs(jump) < JUMP) return undefined;
      base = fresh;
      return jump;
    },
  };
}
