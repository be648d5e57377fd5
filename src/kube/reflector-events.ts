/**
 * What the events of a watch mean for the local copy: the initial events of a WatchList, and the changes that follow.
 */
import type { KubeObject } from '../api/core.ts';
import type { WatchEvent } from '../api/kube-api.ts';
import { KubeError } from '../api/kube-error.ts';
import { isOlder, parseResourceVersion } from './resource-version.ts';
import type { WatchStream } from './watch-stream.ts';

/** Where a reflector puts what it reads. */
export interface ReflectorSink<T> {
  begin(): SinkReplacement<T>;
  upsert(object: T): void;
  remove(object: T): void;
  /** The server was heard: an answer, an event, a bookmark. */
  onContact(): void;
  /**
   * `fresh`: listed and watched. `stale`: the connection broke, `error` says how, or what was missed is not all here.
   */
  onState(state: 'fresh' | 'stale', error?: unknown): void;
}

/** A listing under way; nobody sees it before it is committed. */
export interface SinkReplacement<T> {
  add(object: T): void;
  remove(object: T): void;
  commit(): void;
}

/** Where a watch can be resumed; undefined means "list first". */
export interface Position {
  resourceVersion: string | undefined;
}

/** Set on the bookmark that ends the initial events of a WatchList. Source: KEP-3157. */
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/**
 * Reads the current state from the start of a WatchList and publishes it at the end mark; the stream then goes on as
 * the watch.
 * @param onEvent called for each event, to prolong the stream's deadline.
 * @returns the version of the state; undefined when the stream ended before the mark, and nothing was published.
 * @throws KubeError for an ERROR event, and whatever the stream throws.
 */
export async function readInitialEvents<T extends KubeObject>(
  stream: WatchStream<T>,
  sink: ReflectorSink<T>,
  onEvent: () => void,
): Promise<string | undefined> {
  const replacement = sink.begin();
  for (let event = await stream.next(); event !== undefined; event = await stream.next()) {
    onEvent();
    sink.onContact();
    if (event.type === 'ERROR') throw toError(event);
    if (event.type === 'DELETED') replacement.remove(event.object);
    else if (event.type !== 'BOOKMARK') replacement.add(event.object);
    else if (event.object.metadata?.annotations?.[INITIAL_EVENTS_END] === 'true') {
      replacement.commit();
      return event.object.metadata.resourceVersion ?? '';
    }
  }
  return undefined;
}

/**
 * Applies events until the server ends the watch, moving `position` along.
 * @returns the number of events that were news, bookmarks included: what is older than the position is none.
 * @throws KubeError for an ERROR event, and whatever the stream throws.
 */
export async function followEvents<T extends KubeObject>(
  stream: WatchStream<T>,
  sink: ReflectorSink<T>,
  position: Position,
): Promise<number> {
  let news = 0;
  for (let event = await stream.next(); event !== undefined; event = await stream.next()) {
    if (event.type === 'ERROR') throw toError(event);
    sink.onContact();
    const version = event.object.metadata?.resourceVersion;
    // Events of one watch are ordered by version; an older one is a late duplicate and would undo a newer state.
    const isLate = isOlder(parseResourceVersion(version), parseResourceVersion(position.resourceVersion));
    if (!isLate) news++;
    if (event.type === 'DELETED') sink.remove(event.object);
    else if (event.type !== 'BOOKMARK' && !isLate) sink.upsert(event.object);
    if (version !== undefined && version !== '' && !isLate) position.resourceVersion = version;
  }
  return news;
}

function toError<T>({ object }: WatchEvent<T> & { type: 'ERROR' }): KubeError {
  const { code = 500, message = 'The watch reported an error without a message.' } = object;
  return new KubeError(code, object, message);
}
