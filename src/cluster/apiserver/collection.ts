/**
 * One kind's objects with their recent history: current state, state at an earlier revision, and live subscribers.
 * Objects are immutable (deeply frozen), so every reader may share them.
 */

import { ascending } from '../../lib/ascending.ts';
import { firstIndex } from '../../lib/first-index.ts';
import { createEventHistory, type StoreEvent } from './event-history.ts';
import type { ApiObject } from './served-type.ts';
import { createSortedKeys } from './sorted-keys.ts';
import { expired } from './status-error.ts';

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
  const history = createEventHistory(historyLimit, startRevision);
  const keys = createSortedKeys((key) => objects.has(key));

  const range = (prefix: string): ApiObject[] => {
    const sorted = keys.all();
    const found: ApiObject[] = [];
    const start = firstIndex(sorted.length, (index) => (sorted[index] ?? '') >= prefix);
    for (let index = start; index < sorted.length; index++) {
      const key = sorted[index] ?? '';
      if (!key.startsWith(prefix)) break;
      const object = objects.get(key);
      if (object !== undefined) found.push(object);
    }
    return found;
  };

  return {
    get: (key) => objects.get(key),
    size: () => objects.size,
    range,
    rangeAt(prefix, revision) {
      const newer = history.after(revision);
      if (newer === undefined) throw expired('The resourceVersion for the provided list is too old.');
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
        keys.onDeleted();
      } else {
        if (event.previous === undefined) keys.add(event.key);
        objects.set(event.key, event.object);
      }
      history.push(event);
      for (const subscriber of everyone) subscriber.deliver(event);
      if (triggerOf === undefined || byTrigger.size === 0) return;
      const after = triggerOf(event.object);
      for (const subscriber of byTrigger.get(after) ?? []) subscriber.deliver(event);
      const before = event.previous === undefined ? after : triggerOf(event.previous);
      if (before !== after) for (const subscriber of byTrigger.get(before) ?? []) subscriber.deliver(event);
    },
    eventsAfter: history.after,
    compact: history.compact,
    compactedRevision: history.compactedRevision,
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
