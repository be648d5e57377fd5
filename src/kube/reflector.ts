/** Keeps a sink in step with one resource type: list (WatchList or pages), then watch, for ever, whatever breaks. */
import type { KubeObject } from '../api/core.ts';
import type { KubeApi } from '../api/kube-api.ts';
import { KubeError } from '../api/kube-error.ts';
import type { ResourceType } from '../api/resources.ts';
import { type BackoffPolicy, backoffPolicies } from '../lib/backoff.ts';
import { type Clock, pause } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import { listAll, newestVersion } from './listing.ts';
import { AheadOfServerError, createPositionTrust } from './position-trust.ts';
import { followEvents, type Position, type ReflectorSink, readInitialEvents } from './reflector-events.ts';
import { isOlder, parseResourceVersion } from './resource-version.ts';
import { createWatchPace, MIN_WATCH_MILLIS } from './watch-pace.ts';
import { createWatchRecovery } from './watch-recovery.ts';
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
  const pace = createWatchPace({ clock, random, retryPolicy, resumeSpreadMillis });
  const recovery = createWatchRecovery(clock, sink);
  const position: Position = { resourceVersion: undefined };
  const trust = createPositionTrust(clock);
  let useWatchList = options.useWatchList ?? true;
  /** What fails meanwhile says nothing of the position. */
  let isQuestion = false;

  /** @throws AheadOfServerError where a backup was restored; KubeError, or the transport's error. */
  const throwIfAhead = async (): Promise<void> => {
    pace.leave();
    const { resourceVersion = '' } = position;
    isQuestion = true;
    const newest = await newestVersion(api, type, { ...selection, signal });
    isQuestion = false;
    if (isOlder(parseResourceVersion(newest), parseResourceVersion(resourceVersion)))
      throw new AheadOfServerError(type.plural, resourceVersion, newest);
  };

  /**
   * Runs `read` on a new watch, and ends the watch however that ends.
   * @param read tells whether the watch was silent for all its time; calls `follows` once it has the initial events.
   */
  const withWatch = async (
    start: { readonly resourceVersion: string; readonly sendInitialEvents?: true },
    read: (stream: WatchStream<T>, follows: () => void) => Promise<boolean>,
  ): Promise<void> => {
    const { sendInitialEvents: isListing = false } = start;
    const timeoutSeconds = pace.timeoutSeconds(recovery.isBehind() && !isListing);
    const follows = (): void => {
      pace.follows();
      stream.extend(timeoutSeconds * 1000 + WATCH_GRACE_MILLIS);
    };
    const onOpen = (): void => {
      pace.accepted(timeoutSeconds);
      sink.onContact();
      if (isListing) return;
      follows();
      recovery.resumed();
    };
    const stream = openWatchStream<T>(
      (streamSignal) => api.watch(type, { ...selection, ...start, timeoutSeconds, signal: streamSignal, onOpen }),
      clock,
      isListing ? INITIAL_EVENTS_IDLE_MILLIS : ACCEPT_MILLIS,
      signal,
    );
    let isSilent = false;
    try {
      isSilent = await read(stream, follows);
    } finally {
      pace.ended();
      recovery.ended();
      stream.close();
    }
    // Nothing may have changed, or the server is not where this is.
    if (isSilent) await throwIfAhead();
  };

  /**
   * @returns whether not even a bookmark came in all its time, but for such as were known.
   * @throws Error for a watch that ends at once and brought nothing, so that it counts as a failure.
   */
  const follow = async (stream: WatchStream<T>): Promise<boolean> => {
    const startedMillis = clock.now();
    if ((await followEvents(stream, sink, position)) > 0) return false;
    if (clock.now() - startedMillis < MIN_WATCH_MILLIS)
      throw new Error(`The watch of ${type.plural} ended within seconds and brought nothing.`);
    const isEarly = pace.isEarly();
    if (isEarly) trust.endedEarly(position.resourceVersion);
    return !isEarly;
  };

  const onListed = (resourceVersion: string): void => {
    position.resourceVersion = resourceVersion;
    recovery.listed();
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
    await withWatch({ sendInitialEvents: true, resourceVersion: '' }, async (stream, follows) => {
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
      follows();
      return await follow(stream);
    });
    return isServed;
  };

  /** Whatever has to come next. Ends normally after a listing, and when the server ended a watch normally. */
  const step = async (): Promise<void> => {
    // Also before a listing: the watch that came before it says nothing about the server of now.
    pace.leave();
    const { resourceVersion } = position;
    if (resourceVersion !== undefined) {
      if (trust.isToBeAsked()) await throwIfAhead();
      return await withWatch({ resourceVersion }, follow);
    }
    if (useWatchList && (await watchWithInitialEvents())) return;
    if (options.useWatchList !== false)
      log.info({ resource: type.plural }, 'WatchList is not served; listing in pages');
    await listInPages();
  };

  while (!signal.aborted) {
    try {
      await step();
      const waitMillis = pace.afterEnd();
      if (waitMillis > 0) await pause(clock, waitMillis, signal);
    } catch (error) {
      if (signal.aborted) return;
      const { waitMillis, isUsual } = pace.afterFailure(error);
      const { resourceVersion } = position;
      if (!isQuestion && !trust.keeps(error, resourceVersion, pace.isFollowing())) position.resourceVersion = undefined;
      isQuestion = false;
      const isNews = recovery.broke(error);
      const level = !isNews ? 'debug' : isUsual ? 'info' : 'warn';
      log[level]({ resource: type.plural, error, waitMillis }, 'Watch interrupted; trying again');
      await pause(clock, waitMillis, signal);
    }
  }
}

/** Servers without WatchList reject its parameters: 422 (forbidden without the feature gate) or 400. */
function isWatchListRejected(error: unknown): boolean {
  return error instanceof KubeError && (error.httpStatus === 422 || error.httpStatus === 400);
}
