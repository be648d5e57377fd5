/** Keeps a sink in step with one resource type: list (WatchList or pages), then watch, for ever, whatever breaks. */
import type { KubeObject } from '../api/core.ts';
import type { KubeApi } from '../api/kube-api.ts';
import { isExpired, isThrottled, isTooLargeResourceVersion, KubeError } from '../api/kube-error.ts';
import type { ResourceType } from '../api/resources.ts';
import { type BackoffPolicy, backoffDelay, backoffPolicies, createBackoff } from '../lib/backoff.ts';
import type { Clock, Timer } from '../lib/clock.ts';
import { sleep } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import { listAll } from './listing.ts';
import { followEvents, type Position, type ReflectorSink, readInitialEvents } from './reflector-events.ts';
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
}

/** Watches last a random time in this range, so that those of many clients do not end together. Source: client-go. */
const MIN_WATCH_SECONDS = 300;
const MAX_WATCH_SECONDS = 600;
/** How long after its own timeout a watch may still be open before it counts as frozen. */
const WATCH_GRACE_MILLIS = 15_000;
/** A WatchList that brings nothing for so long before its end mark is given up, and pages are used. */
const INITIAL_EVENTS_IDLE_MILLIS = 60_000;
/**
 * A watch that ends sooner and brought nothing counts as an error, or a broken server would be asked in a tight loop.
 */
const MIN_WATCH_MILLIS = 5_000;
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
  const { retryPolicy = backoffPolicies.reflector } = options;
  const backoff = createBackoff(retryPolicy, clock, random);
  const position: Position = { resourceVersion: undefined };
  let useWatchList = options.useWatchList ?? true;
  /** When the present watch was accepted; undefined when there is none. */
  let openedMillis: number | undefined;
  /** The position was refused since the last complete listing. */
  let wasRefused = false;
  /** The connection broke, and what was missed may not all be here. */
  let isBehind = false;
  let catchUp: Timer | undefined;

  const stopCatchingUp = (): void => {
    catchUp?.cancel();
    catchUp = undefined;
  };
  const nowFresh = (): void => {
    stopCatchingUp();
    isBehind = false;
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

  const randomTimeout = (): number =>
    MIN_WATCH_SECONDS + Math.floor(random.next() * (MAX_WATCH_SECONDS - MIN_WATCH_SECONDS + 1));

  /** Runs `read` on a new watch, and ends the watch however that ends. */
  const withWatch = async (
    start: { readonly resourceVersion: string; readonly sendInitialEvents?: true },
    read: (stream: WatchStream<T>, deadlineMillis: number) => Promise<void>,
  ): Promise<void> => {
    const timeoutSeconds = randomTimeout();
    const deadlineMillis = timeoutSeconds * 1000 + WATCH_GRACE_MILLIS;
    const onOpen = (): void => {
      openedMillis = clock.now();
      sink.onContact();
      if (!start.sendInitialEvents) watching();
    };
    const stream = openWatchStream<T>(
      (streamSignal) => api.watch(type, { ...selection, ...start, timeoutSeconds, signal: streamSignal, onOpen }),
      clock,
      start.sendInitialEvents ? INITIAL_EVENTS_IDLE_MILLIS : deadlineMillis,
      signal,
    );
    try {
      await read(stream, deadlineMillis);
    } finally {
      stopCatchingUp();
      stream.close();
    }
  };

  /** @throws Error for a watch that ends at once and brought nothing, so that it counts as a failure. */
  const follow = async (stream: WatchStream<T>): Promise<void> => {
    const startedMillis = clock.now();
    const seen = await followEvents(stream, watchSink, position);
    if (seen === 0 && clock.now() - startedMillis < MIN_WATCH_MILLIS) {
      throw new Error(`The watch of ${type.plural} ended within seconds and brought nothing.`);
    }
  };

  const onListed = (resourceVersion: string): void => {
    position.resourceVersion = resourceVersion;
    wasRefused = false;
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
        return;
      }
      onListed(resourceVersion);
      stream.extend(deadlineMillis);
      await follow(stream);
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
    if (!(error instanceof KubeError)) return wasHealthy ? 0 : backoff.next();
    const delay = isFirstRefusal ? backoffDelay(retryPolicy, 1, random) : backoff.next();
    return Math.max(delay, error.retryAfterMillis ?? 0);
  };

  while (!signal.aborted) {
    try {
      await step();
    } catch (error) {
      if (signal.aborted) return;
      const wasHealthy = openedMillis !== undefined && clock.now() - openedMillis >= MIN_WATCH_MILLIS;
      const waitMillis = delayAfter(error, wasHealthy);
      // Transport faults and throttling keep the position; any other answer of the server means it is of no use.
      if (error instanceof KubeError && !isThrottled(error)) position.resourceVersion = undefined;
      isBehind = true;
      sink.onState('stale', error);
      const level = wasHealthy || isRefusal(error) ? 'info' : 'warn';
      log[level]({ resource: type.plural, error, waitMillis }, 'Watch interrupted; trying again');
      await sleep(clock, waitMillis, signal).catch(() => {});
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
