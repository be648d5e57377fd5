/** When a reflector asks next: how long each of its watches is to last, and how long to wait after one, or a failure. */
import { KubeError } from '../api/kube-error.ts';
import { type BackoffPolicy, backoffDelay, createBackoff } from '../lib/backoff.ts';
import type { Clock } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import { isPositionRefused } from './position-trust.ts';

export interface WatchPaceOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Between failures. */
  readonly retryPolicy: BackoffPolicy;
  /** See `ReflectorOptions`. */
  readonly resumeSpreadMillis: Millis;
}

/** For one reflector, which has one watch at a time. */
export interface WatchPace {
  /** How long the next watch is to last. @param isResumed after a break */
  timeoutSeconds(isResumed: boolean): number;
  /** The server took a watch that ends by itself after this time. */
  accepted(timeoutSeconds: number): void;
  /** It tells of changes from now on: initial events are over. */
  follows(): void;
  /** It is over; what it was counts for `afterEnd` or `afterFailure`, until `leave`. */
  ended(): void;
  /** What comes now is no watch: a server that breaks off each listing is asked with growing waits, however long each takes. */
  leave(): void;
  /** The last watch got so far, though it may be over. */
  isFollowing(): boolean;
  /** The watch is not over by its timeout. */
  isEarly(): boolean;
  /** How long to wait after a step that ended normally. */
  afterEnd(): Millis;
  /** The same after one that failed. @returns also whether such failures happen in the best of clusters. */
  afterFailure(error: unknown): { readonly waitMillis: Millis; readonly isUsual: boolean };
}

/** Watches last a random time in this range, so that those of many clients do not end together. Source: client-go. */
const MIN_WATCH_SECONDS = 300;
const MAX_WATCH_SECONDS = 600;
/** After a break: a fifth of that, as it may have been the restoration of a backup (see `AheadOfServerError`). */
const WATCH_AFTER_BREAK = 0.2;
/**
 * A watch that ends sooner and brought nothing counts as an error, or a broken server would be asked in a tight loop.
 */
export const MIN_WATCH_MILLIS = 5_000;
/**
 * Where one watch after the other is ended sooner, so much lies between them: what cuts each after its first event
 * would else be asked for one at every event.
 */
const WATCHES_APART_MILLIS = 1_000;

/** A watch that was accepted; it follows once its initial events are complete. */
interface Accepted {
  readonly endsMillis: EpochMillis;
  readonly followsSince?: EpochMillis;
}

export function createWatchPace(options: WatchPaceOptions): WatchPace {
  const { clock, random, retryPolicy, resumeSpreadMillis } = options;
  const backoff = createBackoff(retryPolicy, clock, random);
  let watch: Accepted | undefined;
  /** The position was refused since a watch was last healthy: a server that lists well may refuse each watch. */
  let wasRefused = false;
  /** The last watch was ended by the server within {@link WATCHES_APART_MILLIS}. */
  let wasShort = false;

  const spread = (): Millis => (resumeSpreadMillis > 0 ? random.next() * resumeSpreadMillis : 0);
  /** How long the watch has told of changes; undefined while it does not. */
  const standingMillis = (): Millis | undefined =>
    watch?.followsSince === undefined ? undefined : clock.now() - watch.followsSince;
  const isHealthy = (): boolean => (standingMillis() ?? 0) >= MIN_WATCH_MILLIS;
  const isEarly = (): boolean => watch !== undefined && clock.now() < watch.endsMillis - MIN_WATCH_MILLIS;
  /**
   * Not at all when a watch broke that had been healthy (a restarted proxy, a connection rotated away), and little when
   * a position is refused for the first time.
   */
  const delayAfter = (error: unknown, isRefused: boolean): Millis => {
    const isFirstRefusal = isRefused && !wasRefused;
    wasRefused ||= isRefused;
    if (!(error instanceof KubeError)) return isHealthy() ? spread() : backoff.next();
    const delay = isFirstRefusal ? backoffDelay(retryPolicy, 1, random) : backoff.next();
    if (error.retryAfterMillis === undefined) return delay;
    // Those who were sent away together must not come back together.
    return Math.max(delay, error.retryAfterMillis + random.next() * retryPolicy.initialMillis);
  };

  return {
    timeoutSeconds(isResumed) {
      const seconds = MIN_WATCH_SECONDS + Math.floor(random.next() * (MAX_WATCH_SECONDS - MIN_WATCH_SECONDS + 1));
      return isResumed ? Math.ceil(seconds * WATCH_AFTER_BREAK) : seconds;
    },
    accepted(timeoutSeconds) {
      watch = { endsMillis: clock.now() + timeoutSeconds * 1000 };
    },
    follows() {
      if (watch !== undefined) watch = { ...watch, followsSince: clock.now() };
    },
    ended() {
      if (isHealthy()) wasRefused = false;
    },
    leave() {
      watch = undefined;
    },
    isFollowing: () => watch?.followsSince !== undefined,
    isEarly,
    afterEnd() {
      const millis = standingMillis();
      if (millis === undefined) return 0;
      const isShort = millis < WATCHES_APART_MILLIS;
      const apartMillis = wasShort && isShort ? WATCHES_APART_MILLIS : 0;
      wasShort = isShort;
      return Math.max(isEarly() ? spread() : 0, apartMillis);
    },
    afterFailure(error) {
      const isRefused = isPositionRefused(error);
      return { isUsual: isHealthy() || isRefused, waitMillis: delayAfter(error, isRefused) };
    },
  };
}
