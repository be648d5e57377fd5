/**
 * One kind's objects with their recent history: current state, state at an earlier revision, and live subscribers.
 * Objects are immutable (deeply frozen), so every reader may share them.
 */

import { ascending } from '../../lib/ascending.ts';
import type { ApiObject } from './served-type.ts';
import { expired } from './status-error.ts';

/** One write. With `previous`, watches tell what entered or left their selection, and lists go back in time. */
export interface StoreEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly revision: number;
  readonly atMillis: number;
  readonly key: string;
  /** The state after the event; for DELETED the last state, carrying the deletion's revision. */
  readonly object: ApiObject;
  /** The state before; absent for ADDED. */
  readonly previous: ApiObject | undefined;
}

/** Told of writes synchronously, in the order of revisions, while the write is under way: it must not write itself. */
export interface Subscriber {
  /** Only objects with this trigger value before or after the event are of interest; absent means all. */
  readonly trigger?: string;
  deliver(event: StoreEvent): void;
}

/** Revisions are those of the whole storage: they rise within a collection, with gaps. */
export interface Collection {
  get(key: string): ApiObject | undefined;
  size(): number;
  /** Objects in key order whose key starts with `prefix` ('' for all). */
  range(prefix: string): ApiObject[];
  /** The same, as it was right after `revision`. Throws 410 when history no longer reaches back that far. */
  rangeAt(prefix: string, revision: number): ApiObject[];
  /** Applies a write whose revision is higher than any before, and tells subscribers before it returns. */
  record(event: StoreEvent): void;
  /** Events after `revision`, oldest first; undefined when some of them have been compacted away. */
  eventsAfter(revision: number): readonly StoreEvent[] | undefined;
  /** Forgets events up to and including `revision`. */
  compact(revision: number): void;
  /** The highest revision whose history is gone; watches may start at it or later. */
  compactedRevision(): number;
  /** @returns ends the subscription; harmless when called again. */
  subscribe(subscriber: Subscriber): () => void;
}

export interface CollectionOptions {
  /** Most events kept. */
  readonly historyLimit: number;
  /** Revision at which the collection came to be. */
  readonly startRevision: number;
  /** Value by which subscribers are indexed (pods: the node's name), so that 500 kubelets do not each see every event. */
  readonly triggerOf?: (object: ApiObject) => string;
}

/** An empty collection. History is bounded by number here and by age through `compact`. */
export function createCollection({ historyLimit, startRevision, triggerOf }: CollectionOptions): Collection {
  const objects = new Map<string, ApiObject>();
  const everyone = new Set<Subscriber>();
  const byTrigger = new Map<string, Set<Subscriber>>();
  let history: StoreEvent[] = [];
  /** Where `history` begins to count; what lies before is dropped in bulk. */
  let historyStart = 0;
  let compacted = startRevision;
  // Kept lazily: a burst of creations only appends, the next list sorts once.
  let keys: string[] = [];
  let keysSorted = true;
  /** Deletions since `keys` was last cleared of them. */
  let deletedKeys = 0;

  const sortedKeys = (): string[] => {
    if (deletedKeys > 0) {
      keys = [...new Set(keys)].filter((key) => objects.has(key));
      deletedKeys = 0;
    }
    if (!keysSorted) {
      keys.sort();
      keysSorted = true;
    }
    return keys;
  };

  const firstIndex = (sorted: readonly string[], bound: string): number => {
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sorted[middle] ?? '') < bound) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  const range = (prefix: string): ApiObject[] => {
    const sorted = sortedKeys();
    const found: ApiObject[] = [];
    for (let index = firstIndex(sorted, prefix); index < sorted.length; index++) {
      const key = sorted[index] ?? '';
      if (!key.startsWith(prefix)) break;
      const object = objects.get(key);
      if (object !== undefined) found.push(object);
    }
    return found;
  };

  const trim = (): void => {
    while (history.length - historyStart > historyLimit) {
      compacted = history[historyStart]?.revision ?? compacted;
      historyStart++;
    }
    // Amortised: the array is cut only when half of it is dead.
    if (historyStart > 1_024 && historyStart * 2 > history.length) {
      history = history.slice(historyStart);
      historyStart = 0;
    }
  };

  const firstAfter = (revision: number): number => {
    let low = historyStart;
    let high = history.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((history[middle]?.revision ?? 0) <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  return {
    get: (key) => objects.get(key),
    size: () => objects.size,
    range,
    rangeAt(prefix, revision) {
      if (revision < compacted) throw expired('The resourceVersion for the provided list is too old.');
      const newer = history.slice(firstAfter(revision));
      if (newer.length === 0) return range(prefix);
      const undone = new Map<string, ApiObject | undefined>();
      for (const event of newer.reverse()) undone.set(event.key, event.previous);
      const state = new Map(range(prefix).map((object) => [keyOf(object), object]));
      for (const [key, previous] of undone) {
        if (previous === undefined) state.delete(key);
        else if (key.startsWith(prefix)) state.set(key, previous);
      }
      return [...state.entries()].sort(([a], [b]) => ascending(a, b)).map(([, object]) => object);
    },
    record(event) {
      if (event.type === 'DELETED') {
        objects.delete(event.key);
        deletedKeys++;
      } else {
        if (event.previous === undefined) {
          const last = keys.at(-1);
          if (last !== undefined && last > event.key) keysSorted = false;
          keys.push(event.key);
        }
        objects.set(event.key, event.object);
      }
      history.push(event);
      trim();
      for (const subscriber of everyone) subscriber.deliver(event);
      if (triggerOf === undefined || byTrigger.size === 0) return;
      const after = triggerOf(event.object);
      for (const subscriber of byTrigger.get(after) ?? []) subscriber.deliver(event);
      const before = event.previous === undefined ? after : triggerOf(event.previous);
      if (before !== after) for (const subscriber of byTrigger.get(before) ?? []) subscriber.deliver(event);
    },
    eventsAfter(revision) {
      if (revision < compacted) return undefined;
      return history.slice(firstAfter(revision));
    },
    compact(revision) {
      historyStart = firstAfter(revision);
      compacted = Math.max(compacted, revision);
    },
    compactedRevision: () => compacted,
    subscribe(subscriber) {
      const { trigger } = subscriber;
      const set = trigger === undefined ? everyone : (byTrigger.get(trigger) ?? new Set());
      if (trigger !== undefined) byTrigger.set(trigger, set);
      set.add(subscriber);
      return () => {
        set.delete(subscriber);
        if (trigger !== undefined && set.size === 0) byTrigger.delete(trigger);
      };
    },
  };
}

/** The storage key: `namespace/name`, or the name alone for cluster-scoped objects. */
export function keyOf(object: ApiObject): string {
  const { namespace, name = '' } = object.metadata;
  return namespace === undefined ? name : `${namespace}/${name}`;
}
