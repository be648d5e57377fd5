/** A clock that is wrong: what another machine takes the time to be. */
import type { Clock } from '../lib/clock.ts';
import type { Millis } from '../lib/units.ts';

/** @param skewMillis how far it is ahead; negative is behind. Timers take as long as on `clock`. */
export function skewClock(clock: Clock, skewMillis: Millis): Clock {
  return skewMillis === 0
    ? clock
    : { now: () => clock.now() + skewMillis, setTimer: (delay, callback) => clock.setTimer(delay, callback) };
}
