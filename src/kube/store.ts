/** The local copy of one resource type: projected records by key, replaced atomically on a fresh listing. */
import type { KubeObject } from '../api/core.ts';
import { createObjectMap, type ObjectMap, objectKey } from './object-map.ts';
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
  /** Of one namespace, without going through the others. */
  valuesIn(namespace: string): IterableIterator<R>;
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

/** Write side, for the reflector only. Readers see either all of a listing or nothing of it. */
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
  const { namespace = '', name = '' } = object.metadata ?? {};
  return objectKey(namespace, name);
}

/** The state of an object that a record was made of. */
export interface RecordOrigin {
  readonly uid: string | undefined;
  /** Numeric resourceVersion, undefined when the server's versions have no order. */
  readonly version: number | undefined;
  /** The object's name as the record has it: the store then keeps no text of its own for it. */
  readonly name?: string;
}

interface Entry<R> extends RecordOrigin {
  readonly record: R;
}

/**
 * What to keep of an object; `before` is what is kept of an earlier state of it, to share texts with. Undefined keeps
 * nothing.
 */
export type Projection<T, R> = (object: T, before: R | undefined) => R | undefined;

/** How the map has records: as they are where they know their origin, else each with it. */
interface Keeping<R, K> {
  keep(record: R, origin: RecordOrigin): K;
  recordOf(kept: K): R;
  originOf(kept: K): RecordOrigin;
}

function withOrigin<R>(): Keeping<R, Entry<R>> {
  return {
    keep: (record, { uid, version }) => ({ record, uid, version }),
    recordOf: ({ record }) => record,
    originOf: (entry) => entry,
  };
}

/**
 * @param project pure function from an object to the record kept of it; undefined means "not kept". The object itself
 * is not retained, so a record must not hold references into it beyond strings.
 * @param isEqual tells two records apart; equal ones cause no change. Default: every new resourceVersion is a change.
 * @param originOf for records that know their origin: without a wrapper each takes 48 bytes less. Every state of an
 * object must then be projected into a record of its own.
 */
export function createStore<T extends KubeObject, R>(
  project: Projection<T, R>,
  isEqual: (before: R, after: R) => boolean = () => false,
  originOf?: (record: R) => RecordOrigin,
): WritableStore<T, R> {
  if (originOf === undefined) return createStoreOf(project, isEqual, withOrigin<R>());
  return createStoreOf(project, isEqual, { keep: (record) => record, recordOf: (record) => record, originOf });
}

function createStoreOf<T extends KubeObject, R, K>(
  project: Projection<T, R>,
  isEqual: (before: R, after: R) => boolean,
  { keep, recordOf, originOf }: Keeping<R, K>,
): WritableStore<T, R> {
  let entries = createObjectMap<K>();
  let state: Freshness = 'initial';

  const originOfObject = ({ metadata }: T): RecordOrigin => ({
    uid: metadata?.uid,
    version: parseResourceVersion(metadata?.resourceVersion),
  });
  const isSame = (kept: K, object: RecordOrigin): boolean => {
    const { uid, version } = originOf(kept);
    return version !== undefined && version === object.version && uid === object.uid;
  };
  const recordOfAny = (kept: K | undefined): R | undefined => (kept === undefined ? undefined : recordOf(kept));

  const knownOf = ({ metadata }: T): K | undefined => entries.find(metadata?.namespace ?? '', metadata?.name ?? '');

  /** @returns what is kept of the object, in whichever map. */
  const put = (into: ObjectMap<K>, object: T): K | undefined => {
    const { namespace = '', name = '' } = object.metadata ?? {};
    const known = knownOf(object);
    const origin = originOfObject(object);
    // An unchanged object keeps its record: a relist of 10,000 objects then costs no second copy.
    const isUnchanged = known !== undefined && isSame(known, origin);
    const record = isUnchanged ? undefined : project(object, recordOfAny(known));
    const kept = isUnchanged ? known : record === undefined ? undefined : keep(record, origin);
    if (kept === undefined) into.delete(namespace, name);
    else into.put(namespace, originOf(kept).name ?? name, kept);
    return kept;
  };

  const difference = (key: string, before: K | undefined, after: K | undefined): StoreChange<R> | undefined => {
    if (before === after) return undefined;
    if (before !== undefined && after !== undefined) {
      const isReplaced = originOf(before).uid !== originOf(after).uid;
      if (!isReplaced && isEqual(recordOf(before), recordOf(after))) return undefined;
    }
    return { key, before: recordOfAny(before), after: recordOfAny(after) };
  };

  /** Removed first, then added and changed, each in the order of its map. */
  const differences = (old: ObjectMap<K>, fresh: ObjectMap<K>): StoreChange<R>[] => {
    const changes: StoreChange<R>[] = [];
    for (const [key, before] of old.entries()) {
      if (fresh.get(key) === undefined) changes.push({ key, before: recordOf(before), after: undefined });
    }
    for (const [key, after] of fresh.entries()) {
      const change = difference(key, old.get(key), after);
      if (change !== undefined) changes.push(change);
    }
    return changes;
  };

  /** Whether the object is known to be older than what is kept. */
  const isPast = (object: T, kept: K | undefined): boolean =>
    kept !== undefined && isOlder(originOfObject(object).version, originOf(kept).version);

  return {
    store: {
      get state() {
        return state;
      },
      get size() {
        return entries.size;
      },
      get: (key) => recordOfAny(entries.get(key)),
      has: (key) => entries.get(key) !== undefined,
      *keys() {
        for (const [key] of entries.entries()) yield key;
      },
      *values() {
        for (const kept of entries.values()) yield recordOf(kept);
      },
      *valuesIn(namespace) {
        for (const kept of entries.valuesIn(namespace)) yield recordOf(kept);
      },
    },
    setState(next) {
      state = next;
    },
    upsert(object) {
      const before = knownOf(object);
      if (isPast(object, before)) return undefined;
      return difference(keyOf(object), before, put(entries, object));
    },
    remove(object) {
      const before = knownOf(object);
      if (before === undefined || isPast(object, before)) return undefined;
      entries.delete(object.metadata?.namespace ?? '', object.metadata?.name ?? '');
      return { key: keyOf(object), before: recordOf(before), after: undefined };
    },
    beginReplacement() {
      const fresh = createObjectMap<K>();
      return {
        add: (object) => void put(fresh, object),
        remove: ({ metadata }) => fresh.delete(metadata?.namespace ?? '', metadata?.name ?? ''),
        commit() {
          const old = entries;
          entries = fresh;
          return differences(old, fresh);
        },
      };
    },
  };
}
