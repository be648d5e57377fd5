/** The local copy of one resource type: projected records by key, replaced atomically on a fresh listing. */
import type { KubeObject } from '../api/core.ts';
import { isOlder, parseResourceVersion } from './resource-version.ts';

/**
 * How far a store may be trusted. `initial`: not yet listed, records are missing. `fresh`: listed and watched.
 * `stale`: was listed, but the connection that keeps it up to date is broken; decisions that disrupt must wait.
 */
export type Freshness = 'initial' | 'fresh' | 'stale';

/** Read side of a store. Keys are `namespace/name`, or `name` for cluster-wide types. */
export interface Store<R> {
  readonly state: Freshness;
  readonly size: number;
  get(key: string): R | undefined;
  has(key: string): boolean;
  keys(): IterableIterator<string>;
  values(): IterableIterator<R>;
}

/** One difference made to a store: added (no `before`), changed, or removed (no `after`). */
export interface StoreChange<R> {
  readonly key: string;
  readonly before: R | undefined;
  readonly after: R | undefined;
}

/** A listing under way. Readers see nothing of it before it is committed. */
export interface StoreReplacement<T, R> {
  add(object: T): void;
  remove(object: T): void;
  /** Publishes the listing in one step and returns the differences, deletions missed meanwhile included. */
  commit(): StoreChange<R>[];
}

/** Write side, for the reflector only. */
export interface WritableStore<T extends KubeObject, R> {
  readonly store: Store<R>;
  setState(state: Freshness): void;
  /** Applies one watch event; undefined when it changed nothing (a duplicate, a late event, an object not kept). */
  upsert(object: T): StoreChange<R> | undefined;
  remove(object: T): StoreChange<R> | undefined;
  beginReplacement(): StoreReplacement<T, R>;
}

/** `namespace/name`, or `name` alone for objects without a namespace. */
export function keyOf(object: KubeObject): string {
  const { namespace, name = '' } = object.metadata ?? {};
  // Joined: a template makes a rope of three texts, and the map that flattens it keeps the rope as well.
  return namespace === undefined || namespace === '' ? name : [namespace, name].join('/');
}

interface Entry<R> {
  readonly record: R;
  /** Numeric resourceVersion, undefined when the server's versions have no order. */
  readonly version: number | undefined;
  readonly uid: string | undefined;
}

/**
 * @param project pure function from an object to the record kept of it; undefined means "not kept". The object itself
 *   is not retained, so a record must not hold references into it beyond strings.
 * @param isEqual tells two records apart; equal ones cause no change. Default: every new resourceVersion is a change.
 */
export function createStore<T extends KubeObject, R>(
  project: (object: T) => R | undefined,
  isEqual: (before: R, after: R) => boolean = () => false,
): WritableStore<T, R> {
  let entries = new Map<string, Entry<R>>();
  let state: Freshness = 'initial';

  const versionOf = (object: T): number | undefined => parseResourceVersion(object.metadata?.resourceVersion);
  const isSame = (entry: Entry<R> | undefined, object: T): entry is Entry<R> => {
    const version = versionOf(object);
    return (
      entry !== undefined && version !== undefined && entry.version === version && entry.uid === object.metadata?.uid
    );
  };

  const put = (into: Map<string, Entry<R>>, key: string, object: T): void => {
    const known = entries.get(key);
    // An unchanged object keeps its record: a relist of 10,000 objects then costs no second copy.
    if (isSame(known, object)) {
      into.set(key, known);
      return;
    }
    const record = project(object);
    if (record === undefined) into.delete(key);
    else into.set(key, { record, version: versionOf(object), uid: object.metadata?.uid });
  };

  const difference = (
    key: string,
    before: Entry<R> | undefined,
    after: Entry<R> | undefined,
  ): StoreChange<R> | undefined => {
    if (before === after) return undefined;
    const isReplaced = before?.uid !== after?.uid;
    if (before !== undefined && after !== undefined && !isReplaced && isEqual(before.record, after.record))
      return undefined;
    return { key, before: before?.record, after: after?.record };
  };

  const differences = (old: Map<string, Entry<R>>, fresh: Map<string, Entry<R>>): StoreChange<R>[] => {
    const changes: StoreChange<R>[] = [];
    for (const [key, before] of old) {
      if (!fresh.has(key)) changes.push({ key, before: before.record, after: undefined });
    }
    for (const [key, after] of fresh) {
      const change = difference(key, old.get(key), after);
      if (change !== undefined) changes.push(change);
    }
    return changes;
  };

  return {
    store: {
      get state() {
        return state;
      },
      get size() {
        return entries.size;
      },
      get: (key) => entries.get(key)?.record,
      has: (key) => entries.has(key),
      keys: () => entries.keys(),
      *values() {
        for (const entry of entries.values()) yield entry.record;
      },
    },
    setState(next) {
      state = next;
    },
    upsert(object) {
      const key = keyOf(object);
      const before = entries.get(key);
      if (isOlder(versionOf(object), before?.version)) return undefined;
      put(entries, key, object);
      return difference(key, before, entries.get(key));
    },
    remove(object) {
      const key = keyOf(object);
      const before = entries.get(key);
      if (before === undefined || isOlder(versionOf(object), before.version)) return undefined;
      entries.delete(key);
      return { key, before: before.record, after: undefined };
    },
    beginReplacement() {
      const fresh = new Map<string, Entry<R>>();
      return {
        add: (object) => put(fresh, keyOf(object), object),
        remove: (object) => {
          fresh.delete(keyOf(object));
        },
        commit() {
          const old = entries;
          entries = fresh;
          return differences(old, fresh);
        },
      };
    },
  };
}
