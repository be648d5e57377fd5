/** A clock that is wrong: what another machine takes the time to be. */
import type { Clock } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import type { Millis } from '../lib/units.ts';

/** May be set at any time; its timers take as long as on the right clock. */
export interface SkewedClock extends Clock {
  /** How far it is ahead; negative is behind. */
  readonly skewMillis: Millis;
  /** Somebody sets it, by so much; negative is back. */
  set(byMillis: Millis): void;
}

export function skewClock(clock: Clock, initialMillis: Millis): SkewedClock {
  let skewMillis = initialMillis;
  return {
    get skewMillis() {
      return skewMillis;
    },
    set(byMillis) {
      skewMillis += byMillis;
    },
    now: () => clock.now() + skewMillis,
    setTimer: (delay, callback) => clock.setTimer(delay, callback),
  };
}

/** Each replica's clock is ahead or behind by an amount of its own. */
export function drawSkews(most: Millis, random: Random): (identity: string) => Millis {
  const skews = new Map<string, Millis>();
  return (identity) => {
    const skew = skews.get(identity) ?? Math.round((2 * random.next() - 1) * most);
    skews.set(identity, skew);
    return skew;
  };
}
