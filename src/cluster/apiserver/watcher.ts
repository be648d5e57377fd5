/**
 * Watches: where they start, what they show of each store event, bookmarks, and how they end.
 * Source of the rules: apiserver pkg/storage/cacher; KEP-956 (bookmarks), KEP-3157 (sendInitialEvents).
 */
import type { Status } from '../../api/core.ts';
import { apiVersionOf } from '../../api/resources.ts';
import type { Clock, Timer } from '../../lib/clock.ts';
import type { Random } from '../../lib/random.ts';
import type { StoreEvent } from './event-history.ts';
import { compileFilter, parseResourceVersion, type Selection } from './reader.ts';
import { type ApiObject, fromStored, type ServedType } from './served-type.ts';
import { badRequest, expired, tooLargeResourceVersion } from './status-error.ts';
import type { Storage } from './storage.ts';

/** `resourceVersion`: absent or `0` shows the present state first, any other only what came after it. */
export interface WatchQuery extends Selection {
  readonly resourceVersion?: string | undefined;
  readonly sendInitialEvents?: boolean | undefined;
  readonly allowBookmarks: boolean;
  readonly timeoutSeconds?: number | undefined;
}

/** Where a watch's events go. Called synchronously while the store records; must not write to the store. */
export interface WatchSink {
  event(type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK', object: ApiObject): void;
  /** An ERROR event; `end` follows. */
  error(status: Status): void;
  /** No further event comes: timeout, error or server shutdown. Called once. */
  end(): void;
}

/** A watch that is under way; both ways to end it are harmless when it has ended. */
export interface OpenWatch {
  readonly type: ServedType;
  /** Stops without calling the sink again. */
  stop(): void;
  /** Ends the stream as the server would, with an ERROR event when a status is given. */
  terminate(status?: Status): void;
}

/** Events come in the order of revisions, none twice and, while the watch is open, none left out. */
export interface Watcher {
  /**
   * What there is to show at once is shown before this returns.
   * @throws 400 for selectors that cannot be read, 504 for initial events of a version from the future. A version that
   * is too old is no exception but an ERROR event with code 410, as on the real server.
   */
  open(type: ServedType, query: WatchQuery, sink: WatchSink): OpenWatch;
  /** Watches now open. */
  openWatches(): readonly OpenWatch[];
  /** Ends all watches and stops the bookmark timer. */
  close(): void;
}

export interface WatcherOptions {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly random: Random;
  /** Distance of bookmarks; the real server's is about a minute. */
  readonly bookmarkMillis: number;
  /** Called with each bookmark round, for compaction by age. */
  readonly onTick: () => void;
}

/** Real servers end a watch that names no timeout after 30 to 60 minutes. */
const MIN_TIMEOUT_SECONDS = 1_800;

/** Annotation of the bookmark that ends the events of a WatchList (KEP-3157). */
export const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/** One timer serves all bookmarks; it rests while no watch is open, and with it compaction by age. */
export function createWatcher({ storage, clock, random, bookmarkMillis, onTick }: WatcherOptions): Watcher {
  const open = new Set<OpenWatch & { bookmark(): void }>();
  let tick: Timer | undefined;

  const armTick = (): void => {
    tick ??= clock.setTimer(bookmarkMillis, () => {
      tick = undefined;
      if (open.size === 0) return;
      onTick();
      for (const watch of open) watch.bookmark();
      armTick();
    });
  };

  const bookmarkOf = (type: ServedType, revision: number, initialEnd: boolean): ApiObject => ({
    ...type.unset,
    kind: type.kind,
    apiVersion: apiVersionOf(type),
    metadata: {
      resourceVersion: String(revision),
      ...(initialEnd ? { annotations: { [INITIAL_EVENTS_END]: 'true' } } : {}),
    },
  });

  return {
    open(type, query, sink) {
      const filter = compileFilter(type, query);
      const from = parseResourceVersion(query.resourceVersion);
      if (query.sendInitialEvents && !query.allowBookmarks) {
        throw badRequest('sendInitialEvents requires setting allowWatchBookmarks to true');
      }
      const current = storage.revision();
      if (query.sendInitialEvents && from !== undefined && from > current) throw tooLargeResourceVersion(from, current);
      const collection = storage.collection(type);
      let live = true;
      // A watch from the future sees nothing until the store gets there.
      let seen = Math.max(from ?? 0, 0);

      const show = (object: ApiObject): ApiObject => fromStored(type, object);
      const emit = (event: StoreEvent): void => {
        if (!live || event.revision <= seen) return;
        seen = event.revision;
        const matched = event.previous !== undefined && filter.matches(show(event.previous));
        const matches = event.type !== 'DELETED' && filter.matches(show(event.object));
        if (matches) sink.event(matched ? 'MODIFIED' : 'ADDED', show(event.object));
        else if (matched && event.type === 'DELETED') sink.event('DELETED', show(event.object));
        else if (matched && event.previous !== undefined) {
          // Left the selection: the last state that matched, at the revision at which it stopped to.
          const { previous } = event;
          const metadata = { ...previous.metadata, resourceVersion: String(event.revision) };
          sink.event('DELETED', show(Object.freeze({ ...previous, metadata: Object.freeze(metadata) })));
        }
      };

      const stop = (): void => {
        live = false;
        unsubscribe();
        timer.cancel();
        open.delete(watch);
        if (open.size === 0) {
          tick?.cancel();
          tick = undefined;
        }
      };
      const watch = {
        type,
        stop,
        terminate(status?: Status) {
          if (!live) return;
          stop();
          if (status !== undefined) sink.error(status);
          sink.end();
        },
        bookmark() {
          if (live && query.allowBookmarks && storage.revision() >= seen)
            sink.event('BOOKMARK', bookmarkOf(type, storage.revision(), false));
        },
      };
      const seconds =
        query.timeoutSeconds !== undefined && query.timeoutSeconds > 0
          ? query.timeoutSeconds
          : MIN_TIMEOUT_SECONDS * (1 + random.next());
      const timer = clock.setTimer(seconds * 1_000, () => watch.terminate());
      const subscriber = { deliver: emit, ...(filter.trigger === undefined ? {} : { trigger: filter.trigger }) };
      const unsubscribe = collection.subscribe(subscriber);
      open.add(watch);
      armTick();

      if (query.sendInitialEvents || (query.sendInitialEvents === undefined && (from === undefined || from === 0))) {
        const prefix = type.namespaced && query.namespace !== undefined ? `${query.namespace}/` : '';
        seen = current;
        for (const object of collection.range(prefix)) {
          const shown = show(object);
          if (live && filter.matches(shown)) sink.event('ADDED', shown);
        }
        if (live && query.sendInitialEvents) sink.event('BOOKMARK', bookmarkOf(type, current, true));
      } else if (from !== undefined && from > 0) {
        const missed = collection.eventsAfter(from);
        if (missed === undefined) {
          const { status } = expired(`too old resource version: ${from} (${collection.compactedRevision()})`);
          watch.terminate(status);
        } else for (const event of missed) emit(event);
      } else seen = current;
      return watch;
    },
    openWatches: () => [...open],
    close() {
      for (const watch of open) watch.terminate();
      tick?.cancel();
      tick = undefined;
    },
  };
}
