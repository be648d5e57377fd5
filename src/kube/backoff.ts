/** Growing, jittered waits between attempts, with client-go's numbers for reflectors as the default. */
import type { Clock } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';

export interface Backoff {
  /** Milliseconds to wait before the next attempt; each call counts as one more failure. */
  next(): number;
  /** Forget earlier failures. */
  reset(): void;
}

export interface BackoffSettings {
  readonly clock: Clock;
  readonly random: Random;
  /** First wait, milliseconds. Default 800. */
  readonly initialMillis?: number;
  /** Upper bound of a wait before jitter, milliseconds. Default 30,000. */
  readonly maxMillis?: number;
  /** A quiet time after which failures are forgotten, milliseconds. Default 120,000. */
  readonly resetAfterMillis?: number;
}

/**
 * Doubles from the initial wait to the maximum; each wait is multiplied by a random factor in [1, 2) so that many clients
 * of a restarted server do not return together. Numbers: client-go tools/cache/reflector.go (0.8 s, x2, 30 s, 2 min).
 */
export function createBackoff(settings: BackoffSettings): Backoff {
  const { clock, random, initialMillis = 800, maxMillis = 30_000, resetAfterMillis = 120_000 } = settings;
  let base = initialMillis;
  let lastMillis = Number.NEGATIVE_INFINITY;
  return {
    next() {
      const now = clock.now();
      if (now - lastMillis > resetAfterMillis) base = initialMillis;
      const wait = base * (1 + random.next());
      base = Math.min(base * 2, maxMillis);
      // Counted from the end of this wait, or a long wait would itself look like a quiet time.
      lastMillis = now + wait;
      return wait;
    },
    reset() {
      base = initialMillis;
    },
  };
}
