/** Keeps a sink in step with one resource type: list (WatchList or pages), then watch, for ever, whatever breaks. */
import type { KubeObject } from '../api/core.ts';
import type { KubeApi } from '../api/kube-api.ts';
import { isExpired, isTooLargeResourceVersion, KubeError } from '../api/kube-error.ts';
import type { ResourceType } from '../api/resources.ts';
import { type BackoffPolicy, backoffDelay, backoffPolicies, createBackoff } from '../lib/backoff.ts';
import type { Clock, Timer } from '../lib/clock.ts';
import { pause, sleep } from '../lib/clock.ts';
import { describeError } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import { listAll, newestVersion } from './listing.ts';
import { AheadOfServerError, createPositionTrust } from './position-trust.ts';
import { followEvents, type Position, type ReflectorSink, readInitialEvents } from './reflector-events.ts';
import { isOlder, parseResourceVersion } from './resource-version.ts';
import { openWatchStream, WatchDeadlineError, type WatchStream } from './watch-stream.ts';

/** Which objects of a type to follow. */
export interface Selection {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface ReflectorOptions<T extends KubeObject> {
  readonly api: KubeApi;
  readonly type: ResourceType<T>;
  readonly sink: ReflectorSink<T>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly selection?: Selection;
  /** Items a page of the paged listing. Default 500, at least 1. */
  readonly pageSize?: number;
  /** Ask for WatchList (KEP-3157) first; falls back to pages where it is not served. Default true. */
  readonly useWatchList?: boolean;
  /** Between failures. Default client-go's, up to a minute. */
  readonly retryPolicy?: BackoffPolicy;
  /**
   * A watch that was healthy and broke, or was ended before its time, is opened again at a random time within so many
   * milliseconds: where there is one of its kind on every node, an API server that ends would else be followed by
   * thousands of requests at one instant. Default 0.
   */
  readonly resumeSpreadMillis?: number;
}

/** Watches last a random time in this range, so that those of many clients do not end together. Source: client-go. */
const MIN_WATCH_SECONDS = 300;
const MAX_WATCH_SECONDS = 600;
/** After a break: a fifth of that, as it may have been the restoration of a backup (see {@link AheadOfServerError}). */
const WATCH_AFTER_BREAK = 0.2;
/**
 * For the server to accept a watch. It holds a request in line for 15 s (priority and fairness); while a watch is not
 * accepted, nothing is known of what happens.
 */
const ACCEPT_MILLIS = 30_000;
/** How long after its own timeout a watch may still be open before it counts as frozen. */
const WATCH_GRACE_MILLIS = 15_000;
/** A WatchList that brings nothing for so long before its end mark is given up, and pages are used. */
const INITIAL_EVENTS_IDLE_MILLIS = 60_000;
/**
 * A watch that ends sooner and brought nothing counts as an error, or a broken server would be asked in a tight loop.
 */
const MIN_WATCH_MILLIS = 5_000;
/**
 * Where one watch after the other is ended sooner, so much lies between them: what cuts each after its first event
 * would else be asked for one at every event.
 */
const WATCHES_APART_MILLIS = 1_000;
/**
 * A watch that comes back after a break brings first what was missed, one event after the other, with no mark of its
 * end. Until it has stood for this long, what is known may still be from before the break.
 */
const CATCH_UP_MILLIS = 1_000;

/**
 * Follows the type until `signal` aborts. Never rejects: every fault is logged, reported to the sink and retried with
 * backoff. After a break the sink counts as fresh a second after a watch is accepted at the last known version: what
 * was missed follows within the same stream, ordered.
 */
export async function runReflector<T extends KubeObject>(
  options: ReflectorOptions<T>,
  signal: AbortSignal,
): Promise<void> {
  const { api, type, sink, clock, random, log, selection = {}, pageSize = 500 } = options;
  const { retryPolicy = backoffPolicies.reflector, resumeSpreadMillis = 0 } = options;
  const backoff = createBackoff(retryPolicy, clock, random);
  const position: Position = { resourceVersion: undefined };
  const trust = createPositionTrust();
  let useWatchList = options.useWatchList ?? true;
  /**
   * When the present watch was accepted, or its initial events were complete; undefined where what fails now is no
   * watch: a server that breaks off each listing is asked with growing waits, however long each of them takes.
   */
  let openedMillis: number | undefined;
  /** The position was refused since a watch was last healthy: a server that lists well may refuse each watch. */
  let wasRefused = false;
  /** The connection broke, and what was missed may not all be here. */
  let isBehind = false;
  let catchUp: Timer | undefined;
  /** When the present watch ends by itself. */
  let endsMillis = 0;
  /** The last watch was ended by the server within {@link WATCHES_APART_MILLIS}. */
  let isShort = false;
  /** What was logged of the present trouble; each cause once, as an outage may last for hours and on every node. */
  let lastTold = '';

  const isHealthy = (): boolean => openedMillis !== undefined && clock.now() - openedMillis >= MIN_WATCH_MILLIS;
  const stopCatchingUp = (): void => {
    catchUp?.cancel();
    catchUp = undefined;
  };
  const nowFresh = (): void => {
    stopCatchingUp();
    isBehind = false;
    lastTold = '';
    sink.onState('fresh');
  };
  /** The watch stands. */
  const watching = (): void => {
    if (!isBehind) sink.onState('fresh');
    else catchUp ??= clock.setTimer(CATCH_UP_MILLIS, nowFresh);
  };
  const watchSink: ReflectorSink<T> = {
    ...sink,
    onState: (state, error) => (state === 'fresh' ? watching() : sink.onState(state, error)),
  };

  const spread = (): number => (resumeSpreadMillis > 0 ? random.next() * resumeSpreadMillis : 0);
  const randomTimeout = (isListing: boolean): number => {
    const seconds = MIN_WATCH_SECONDS + Math.floor(random.next() * (MAX_WATCH_SECONDS - MIN_WATCH_SECONDS + 1));
    return isBehind && !isListing ? Math.ceil(seconds * WATCH_AFTER_BREAK) : seconds;
  };
  const isEarly = (): boolean => clock.now() < endsMillis - MIN_WATCH_MILLIS;
  /** @throws AheadOfServerError where a backup was restored; KubeError, or the transport's error. */
  const throwIfAhead = async (): Promise<void> => {
    openedMillis = undefined;
    const { resourceVersion = '' } = position;
    const newest = await newestVersion(api, type, { ...selection, signal });
    if (isOlder(parseResourceVersion(newest), parseResourceVersion(resourceVersion)))
      throw new AheadOfServerError(type.plural, resourceVersion, newest);
  };

  /**
   * Runs `read` on a new watch, and ends the watch however that ends.
   * @param read tells whether the watch was silent for all its time.
   */
  const withWatch = async (
    start: { readonly resourceVersion: string; readonly sendInitialEvents?: true },
    read: (stream: WatchStream<T>, deadlineMillis: number) => Promise<boolean>,
  ): Promise<void> => {
    let isSilent = false;
    const timeoutSeconds = randomTimeout(start.sendInitialEvents === true);
    const deadlineMillis = timeoutSeconds * 1000 + WATCH_GRACE_MILLIS;
    const onOpen = (): void => {
      endsMillis = clock.now() + timeoutSeconds * 1000;
      sink.onContact();
      if (start.sendInitialEvents) return;
      openedMillis = clock.now();
      stream.extend(deadlineMillis);
      watching();
    };
    const stream = openWatchStream<T>(
      (streamSignal) => api.watch(type, { ...selection, ...start, timeoutSeconds, signal: streamSignal, onOpen }),
      clock,
      start.sendInitialEvents ? INITIAL_EVENTS_IDLE_MILLIS : ACCEPT_MILLIS,
      signal,
    );
    try {
      isSilent = await read(stream, deadlineMillis);
    } finally {
      if (isHealthy()) wasRefused = false;
      stopCatchingUp();
      stream.close();
    }
    // Nothing may have changed, or the server is not where this is.
    if (isSilent) await throwIfAhead();
  };

  /**
   * @returns whether not even a bookmark came in all its time.
   * @throws Error for a watch that ends at once and brought nothing, so that it counts as a failure.
   */
  const follow = async (stream: WatchStream<T>): Promise<boolean> => {
    const startedMillis = clock.now();
    if ((await followEvents(stream, watchSink, position)) > 0) return false;
    if (clock.now() - startedMillis < MIN_WATCH_MILLIS)
      throw new Error(`The watch of ${type.plural} ended within seconds and brought nothing.`);
    return !isEarly();
  };

  const onListed = (resourceVersion: string): void => {
    position.resourceVersion = resourceVersion;
    nowFresh();
  };

  const listInPages = async (): Promise<void> => {
    const { target, resourceVersion } = await listAll(api, type, { ...selection, limit: pageSize, signal }, () =>
      sink.begin(),
    );
    sink.onContact();
    target.commit();
    onListed(resourceVersion);
  };

  /** @returns whether the server served it; if not, nothing was published. */
  const watchWithInitialEvents = async (): Promise<boolean> => {
    let isServed = true;
    await withWatch({ sendInitialEvents: true, resourceVersion: '' }, async (stream, deadlineMillis) => {
      let resourceVersion: string | undefined;
      try {
        resourceVersion = await readInitialEvents(stream, sink, () => stream.extend(INITIAL_EVENTS_IDLE_MILLIS));
      } catch (error) {
        const isRejected = isWatchListRejected(error);
        // A rejection is for good; silence may have been an accident, so the next listing asks again.
        if (isRejected) useWatchList = false;
        else if (!(error instanceof WatchDeadlineError)) throw error;
      }
      if (resourceVersion === undefined) {
        isServed = false;
        return false;
      }
      onListed(resourceVersion);
      openedMillis = clock.now();
      stream.extend(deadlineMillis);
      return await follow(stream);
    });
    return isServed;
  };

  /** Whatever has to come next. Ends normally after a listing, and when the server ended a watch normally. */
  const step = async (): Promise<void> => {
    // Also before a listing: the watch that came before it says nothing about the server of now.
    openedMillis = undefined;
    const { resourceVersion } = position;
    if (resourceVersion !== undefined) return await withWatch({ resourceVersion }, follow);
    if (useWatchList && (await watchWithInitialEvents())) return;
    if (options.useWatchList !== false)
      log.info({ resource: type.plural }, 'WatchList is not served; listing in pages');
    await listInPages();
  };

  /**
   * How long to wait after a failure. Not at all when a watch broke that had been healthy (a restarted proxy, a
   * connection rotated away), and little when a position is refused for the first time; both happen in the best of
   * clusters.
   */
  const delayAfter = (error: unknown, wasHealthy: boolean): number => {
    const isFirstRefusal = isRefusal(error) && !wasRefused;
    wasRefused ||= isRefusal(error);
    if (!(error instanceof KubeError)) return wasHealthy ? spread() : backoff.next();
    const delay = isFirstRefusal ? backoffDelay(retryPolicy, 1, random) : backoff.next();
    if (error.retryAfterMillis === undefined) return delay;
    // Those who were sent away together must not come back together.
    return Math.max(delay, error.retryAfterMillis + random.next() * retryPolicy.initialMillis);
  };
  /** After a watch that the server ended: waits where it did so before the time, or at once and not for the first time. */
  const keepApart = async (): Promise<void> => {
    if (openedMillis === undefined) return;
    const wasShort = isShort;
    isShort = clock.now() - openedMillis < WATCHES_APART_MILLIS;
    const waitMillis = Math.max(isEarly() ? spread() : 0, wasShort && isShort ? WATCHES_APART_MILLIS : 0);
    if (waitMillis > 0) await sleep(clock, waitMillis, signal);
  };

  while (!signal.aborted) {
    try {
      await step();
      await keepApart();
    } catch (error) {
      if (signal.aborted) return;
      const wasHealthy = isHealthy();
      const waitMillis = delayAfter(error, wasHealthy);
      if (!trust.keeps(error, position.resourceVersion, openedMillis !== undefined))
        position.resourceVersion = undefined;
      isBehind = true;
      sink.onState('stale', error);
      const told = describeError(error);
      const isUsual = (wasHealthy || isRefusal(error)) && !(error instanceof AheadOfServerError);
      const level = told === lastTold ? 'debug' : isUsual ? 'info' : 'warn';
      lastTold = told;
      log[level]({ resource: type.plural, error, waitMillis }, 'Watch interrupted; trying again');
      await pause(clock, waitMillis, signal);
    }
  }
}

/** The server does not serve the position: too old, or newer than its own. */
function isRefusal(error: unknown): boolean {
  return isExpired(error) || isTooLargeResourceVersion(error);
}

/** Servers without WatchList reject its parameters: 422 (forbidden without the feature gate) or 400. */
function isWatchListRejected(error: unknown): boolean {
  return error instanceof KubeError && (error.httpStatus === 422 || error.httpStatus === 400);
}
