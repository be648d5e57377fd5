/** A token bucket: so many at once after a quiet time, and so many a second after that. */
import type { Clock } from '../lib/clock.ts';
import type { Millis } from '../lib/units.ts';

export interface TokenBucket {
  /** There are now; below 0 where more were taken than there were, and some wait for their turn. */
  tokens(): number;
  take(): void;
  /** How long until there are so many, if none is taken meanwhile. At least 0. */
  millisUntil(tokens: number): Millis;
}

/** Full at first. */
export function createTokenBucket(perSecond: number, burst: number, clock: Clock): TokenBucket {
  let tokens = burst;
  let countedMillis = clock.now();
  const refilled = (): number => {
    const now = clock.now();
    // A clock set back takes no tokens away; kept as an instant, the rate would stand still until the clock has caught
    // up.
    tokens = Math.min(burst, tokens + (Math.max(0, now - countedMillis) * perSecond) / 1000);
    countedMillis = now;
    return tokens;
  };
  return {
    tokens: refilled,
    take() {
      tokens = refilled() - 1;
    },
    millisUntil: (wanted) => Math.max(0, ((wanted - refilled()) * 1000) / perSecond),
  };
}
