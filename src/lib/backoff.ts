/**
 * Jittered exponential delays between retries. Pure arithmetic plus one small stateful helper; nobody sleeps in here.
 */
import type { Clock } from './clock.ts';
import type { Random } from './random.ts';
import type { Millis } from './units.ts';

/** Full delay of failure n: `min(maxMillis, initialMillis * factor^(n-1))`, plus jitter. */
export interface BackoffPolicy {
  /** Delay after the first failure, before jitter. */
  readonly initialMillis: Millis;
  /** What each further failure multiplies the delay by; at least 1. */
  readonly factor: number;
  /** Bound of the delay before jitter. */
  readonly maxMillis: Millis;
  /** Share of the delay added at random: 1 gives [d, 2d), 0 gives exactly d. */
  readonly jitter: number;
  /** Failures are forgotten when this much time passed since the last delay was handed out. */
  readonly resetAfterMillis?: Millis;
}

/**
 * Named policies. `reflector` and `queueItem` are client-go's numbers, so that Stowage loads an API server no more than
 * kubectl's family does.
 */
export const backoffPolicies = {
  /** List and watch retries (client-go tools/cache/reflector.go). */
  reflector: { initialMillis: 800, factor: 2, maxMillis: 30_000, jitter: 1, resetAfterMillis: 120_000 },
  /** Of a node agent: five quiet watches, and pods that lose their share where it is not heard of for two minutes. */
  nodeAgent: { initialMillis: 800, factor: 2, maxMillis: 6_000, jitter: 1, resetAfterMillis: 120_000 },
  /** One failing key of a work queue (client-go util/workqueue/default_rate_limiters.go). */
  queueItem: { initialMillis: 5, factor: 2, maxMillis: 1_000_000, jitter: 0 },
  /**
   * A spot pool or a side that turned out to have no room: first 3 minutes, as long as Karpenter remembers missing
   * capacity.
   */
  capacity: { initialMillis: 180_000, factor: 2, maxMillis: 3_600_000, jitter: 0.25 },
} as const satisfies Record<string, BackoffPolicy>;

/**
 * The delay after `failures` failures in a row.
 * @param failures 1 for the first failure; smaller values count as 1.
 */
export function backoffDelay(policy: BackoffPolicy, failures: number, random: Random): Millis {
  // factor ** n overflows to Infinity for large n, which min() brings back to the bound.
  const grown = policy.initialMillis * policy.factor ** (Math.max(1, failures) - 1);
  const base = Math.min(policy.maxMillis, grown);
  return policy.jitter === 0 ? base : base + random.next() * policy.jitter * base;
}

/** Of one operation. Nobody waits in here: the caller sleeps as long as it is told. */
export interface Backoff {
  /** Counts one failure and returns how long to wait before the next try. */
  next(): Millis;
  /** Call after a success. */
  reset(): void;
}

/** Remembers the failures in a row of one retried operation. */
export function createBackoff(policy: BackoffPolicy, clock: Clock, random: Random): Backoff {
  let failures = 0;
  let lastMillis = Number.NEGATIVE_INFINITY;
  return {
    next() {
      const now = clock.now();
      // Of a clock that was set back nothing is known: better a try too early than a minute each until it has caught up.
      const sinceLast = Math.abs(now - lastMillis);
      if (policy.resetAfterMillis !== undefined && sinceLast > policy.resetAfterMillis) failures = 0;
      lastMillis = now;
      failures++;
      return backoffDelay(policy, failures, random);
    },
    reset() {
      failures = 0;
    },
  };
}
