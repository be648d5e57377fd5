/** Keeps a sink in step with one resource type: list (WatchList or pages), then watch, for ever, whatever breaks. */
import type { KubeObject } from '../api/core.ts';
import type { KubeApi, WatchEvent } from '../api/kube-api.ts';
import { isExpired, isThrottled, isTooLargeResourceVersion, KubeError } from '../api/kube-error.ts';
import type { ResourceType } from '../api/resources.ts';
import { backoffDelay, backoffPolicies, createBackoff } from '../lib/backoff.ts';
import type { Clock } from '../lib/clock.ts';
import { sleep } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import { listAll } from './listing.ts';
import { isOlder, parseResourceVersion } from './resource-version.ts';
import { openWatchStream, WatchDeadlineError, type WatchStream } from './watch-stream.ts';

/** Which objects of a type to follow. */
export interface Selection {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** Where the reflector puts what it reads. */
export interface ReflectorSink<T> {
  begin(): SinkReplacement<T>;
  upsert(object: T): void;
  remove(object: T): void;
  /** The server was heard: an answer, an event, a bookmark. */
  onContact(): void;
  /** `fresh`: listed and watched. `stale`: the connection broke, `error` says how. */
  onState(state: 'fresh' | 'stale', error?: unknown): void;
}

export interface SinkReplacement<T> {
  add(object: T): void;
  remove(object: T): void;
  commit(): void;
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
}

/** Set on the bookmark that ends the initial events of a WatchList. Source: KEP-3157. */
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';
/** Watches last a random time in this range, so that those of many clients do not end together. Source: client-go. */
const MIN_WATCH_SECONDS = 300;
const MAX_WATCH_SECONDS = 600;
/** How long after its own timeout a watch may still be open before it counts as frozen. */
const WATCH_GRACE_MILLIS = 15_000;
/** A WatchList that brings nothing for so long before its end mark is given up, and pages are used. */
const INITIAL_EVENTS_IDLE_MILLIS = 60_000;
/** A watch that ends sooner and brought nothing counts as an error, or a broken server would be asked in a tight loop. */
const MIN_WATCH_MILLIS = 5_000;

/** The server does not know WatchList, or did not end its initial events. */
class WatchListFailedError extends Error {
  override readonly name = 'WatchListFailedError';
  readonly isPermanent: boolean;

  constructor(isPermanent: boolean, cause: unknown) {
    super('WatchList is not served here.', { cause });
    this.isPermanent = isPermanent;
  }
}

/** Older servers reject the parameters: 422 (forbidden without the feature gate) or 400. */
function isWatchListRejected(error: unknown): boolean {
  return error instanceof KubeError && (error.httpStatus === 422 || error.httpStatus === 400);
}

/** Follows the type until `signal` aborts. Never rejects: every fault is logged, reported to the sink and retried with backoff. */
export async function runReflector<T extends KubeObject>(
  options: ReflectorOptions<T>,
  signal: AbortSignal,
): Promise<void> {
  const { api, type, sink, clock, random, log, selection = {}, pageSize = 500 } = options;
  const backoff = createBackoff(backoffPolicies.reflector, clock, random);
  const name = type.plural;
  let useWatchList = options.useWatchList ?? true;
  /** Where to resume; undefined means "list first". */
  let position: string | undefined;
  /** When the present watch was accepted; undefined when there is none. */
  let openedMillis: number | undefined;
  /** The position was refused since the last complete listing. */
  let wasRefused = false;

  const openStream = (resourceVersion: string | undefined): { stream: WatchStream<T>; deadlineMillis: number } => {
    const timeoutSeconds = MIN_WATCH_SECONDS + Math.floor(random.next() * (MAX_WATCH_SECONDS - MIN_WATCH_SECONDS + 1));
    const deadlineMillis = timeoutSeconds * 1000 + WATCH_GRACE_MILLIS;
    const isInitial = resourceVersion === undefined;
    const onOpen = (): void => {
      openedMillis = clock.now();
      sink.onContact();
      if (!isInitial) sink.onState('fresh');
    };
    const stream = openWatchStream<T>(
      (streamSignal) =>
        api.watch(type, {
          ...selection,
          timeoutSeconds,
          signal: streamSignal,
          onOpen,
          ...(isInitial ? { sendInitialEvents: true, resourceVersion: '' } : { resourceVersion }),
        }),
      clock,
      isInitial ? INITIAL_EVENTS_IDLE_MILLIS : deadlineMillis,
      signal,
    );
    return { stream, deadlineMillis };
  };

  const raise = (event: WatchEvent<T> & { type: 'ERROR' }): never => {
    const { code = 500, message = 'the watch reported an error without a message' } = event.object;
    throw new KubeError(code, event.object, message);
  };

  /** Applies events until the server ends the watch; resolves to the number of events seen, bookmarks included. */
  const follow = async (stream: WatchStream<T>): Promise<number> => {
    let seen = 0;
    for (let event = await stream.next(); event !== undefined; event = await stream.next()) {
      if (event.type === 'ERROR') raise(event);
      else {
        seen++;
        sink.onContact();
        if (seen === 1) sink.onState('fresh');
        const version = event.object.metadata?.resourceVersion;
        // Events of one watch are ordered by version; an older one is a late duplicate and would undo a newer state.
        const isLate = isOlder(parseResourceVersion(version), parseResourceVersion(position));
        if (event.type === 'DELETED') sink.remove(event.object);
        else if (event.type !== 'BOOKMARK' && !isLate) sink.upsert(event.object);
        if (version !== undefined && version !== '' && !isLate) position = version;
      }
    }
    return seen;
  };

  /** WatchList: the current state as events, then the same stream goes on as the watch. */
  const readInitialEvents = async (stream: WatchStream<T>): Promise<void> => {
    const replacement = sink.begin();
    for (let event = await stream.next(); event !== undefined; event = await stream.next()) {
      stream.extend(INITIAL_EVENTS_IDLE_MILLIS);
      sink.onContact();
      if (event.type === 'ERROR') raise(event);
      else if (event.type === 'DELETED') replacement.remove(event.object);
      else if (event.type !== 'BOOKMARK') replacement.add(event.object);
      else if (event.object.metadata?.annotations?.[INITIAL_EVENTS_END] === 'true') {
        position = event.object.metadata.resourceVersion;
        replacement.commit();
        wasRefused = false;
        sink.onState('fresh');
        return;
      }
    }
    throw new WatchListFailedError(false, new Error('the stream ended before the initial events did'));
  };

  const watchFrom = async (stream: WatchStream<T>, startedMillis: number): Promise<void> => {
    const seen = await follow(stream);
    if (seen === 0 && clock.now() - startedMillis < MIN_WATCH_MILLIS) {
      throw new Error(`The watch of ${name} ended within seconds and brought nothing.`);
    }
  };

  const watchWithInitialEvents = async (): Promise<void> => {
    const startedMillis = clock.now();
    const { stream, deadlineMillis } = openStream(undefined);
    try {
      await readInitialEvents(stream).catch((error: unknown) => {
        if (isWatchListRejected(error)) throw new WatchListFailedError(true, error);
        throw error;
      });
      stream.extend(deadlineMillis);
      await watchFrom(stream, startedMillis);
    } finally {
      stream.close();
    }
  };

  const listInPages = async (): Promise<void> => {
    const listing = await listAll(api, type, { ...selection, limit: pageSize, signal }, () => sink.begin());
    sink.onContact();
    listing.target.commit();
    wasRefused = false;
    position = listing.resourceVersion;
    sink.onState('fresh');
  };

  const resume = async (from: string): Promise<void> => {
    const startedMillis = clock.now();
    const { stream } = openStream(from);
    try {
      await watchFrom(stream, startedMillis);
    } finally {
      stream.close();
    }
  };

  /** One step: whatever has to come next. Ends normally when the server ended a watch normally. */
  const step = async (): Promise<void> => {
    if (position !== undefined) return await resume(position);
    if (!useWatchList) return await listInPages();
    try {
      return await watchWithInitialEvents();
    } catch (error) {
      const isIdle = position === undefined && error instanceof WatchDeadlineError;
      if (!(error instanceof WatchListFailedError) && !isIdle) throw error;
      if (error instanceof WatchListFailedError && error.isPermanent) useWatchList = false;
      log.info({ resource: name }, 'WatchList is not served here; listing in pages instead');
      return await listInPages();
    }
  };

  /**
   * How long to wait after a failure. Not at all when a watch broke that had been healthy (a restarted proxy, a connection
   * rotated away), and little when a position is refused for the first time; both happen in the best of clusters.
   */
  const delayAfter = (error: unknown, wasHealthy: boolean): number => {
    const isRefusal = isExpired(error) || isTooLargeResourceVersion(error);
    const isFirstRefusal = isRefusal && !wasRefused;
    wasRefused ||= isRefusal;
    if (!(error instanceof KubeError)) return wasHealthy ? 0 : backoff.next();
    const delay = isFirstRefusal ? backoffDelay(backoffPolicies.reflector, 1, random) : backoff.next();
    return Math.max(delay, error.retryAfterMillis ?? 0);
  };

  while (!signal.aborted) {
    try {
      await step();
    } catch (error) {
      if (signal.aborted) return;
      const wasHealthy = openedMillis !== undefined && clock.now() - openedMillis >= MIN_WATCH_MILLIS;
      openedMillis = undefined;
      const waitMillis = delayAfter(error, wasHealthy);
      // Transport faults and throttling keep the position; any other answer of the server means it is of no use.
      if (error instanceof KubeError && !isThrottled(error)) position = undefined;
      sink.onState('stale', error);
      const level = wasHealthy || isExpired(error) || isTooLargeResourceVersion(error) ? 'info' : 'warn';
      log[level]({ resource: name, error, waitMillis }, 'Watch interrupted; trying again');
      await sleep(clock, waitMillis, signal).catch(() => {});
    }
  }
}
