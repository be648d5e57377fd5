/** All collections under one revision counter, as etcd has it: every write anywhere gets the next revision. */
import type { Clock } from '../../lib/clock.ts';
import { type Collection, createCollection, keyOf } from './collection.ts';
import { deepFreeze } from './json.ts';
import type { ApiObject, ServedType } from './served-type.ts';

/**
 * Writes are compare-and-swap on the identity of the stored (frozen) object, as the real server's are on its version:
 * whoever has awaited something between reading and writing either sees `undefined` or has lost nothing.
 */
export interface Storage {
  /** Of the newest write anywhere. */
  revision(): number;
  /** Made when first asked for; types of one `storage` share it. */
  collection(type: ServedType): Collection;
  /** Stores `next` over `previous` (undefined: must not exist); undefined when the stored object is no longer `previous`. */
  put(type: ServedType, previous: ApiObject | undefined, next: ApiObject): ApiObject | undefined;
  /** Removes `previous`; returns its last state (`last` where the deletion itself changed it) with the deletion's revision, or undefined when it has changed meanwhile. */
  remove(type: ServedType, previous: ApiObject, last?: ApiObject): ApiObject | undefined;
  /** Forgets history older than `millis`, in all collections; without a number, all of it. */
  compact(olderThanMillis?: number): void;
}

export interface StorageOptions {
  readonly clock: Clock;
  readonly historyLimit: number;
}

export function createStorage({ clock, historyLimit }: StorageOptions): Storage {
  // Real clusters never start at 1; a start above it also keeps "0" and "1" from being taken for versions of ours.
  let revision = 100;
  const collections = new Map<string, Collection>();
  /** Revisions with their time, one a minute at most, to compact by age. */
  const marks: { revision: number; atMillis: number }[] = [];

  const collection = (type: ServedType): Collection => {
    const known = collections.get(type.storage);
    if (known !== undefined) return known;
    const made = createCollection({
      historyLimit,
      startRevision: revision,
      ...(type.storage === '/pods' ? { triggerOf: (pod: ApiObject) => nodeNameOf(pod) } : {}),
    });
    collections.set(type.storage, made);
    return made;
  };

  const nextRevision = (): number => {
    revision++;
    const last = marks.at(-1);
    if (last === undefined || clock.now() - last.atMillis >= 60_000)
      marks.push({ revision: revision - 1, atMillis: clock.now() });
    return revision;
  };

  const stamped = (object: ApiObject, at: number): ApiObject =>
    deepFreeze({ ...object, metadata: { ...object.metadata, resourceVersion: String(at) } });

  return {
    revision: () => revision,
    collection,
    put(type, previous, next) {
      const target = collection(type);
      const key = keyOf(next);
      if (target.get(key) !== previous) return undefined;
      const at = nextRevision();
      const object = stamped(next, at);
      target.record({
        type: previous === undefined ? 'ADDED' : 'MODIFIED',
        revision: at,
        atMillis: clock.now(),
        key,
        object,
        previous,
      });
      return object;
    },
    remove(type, previous, last = previous) {
      const target = collection(type);
      const key = keyOf(previous);
      if (target.get(key) !== previous) return undefined;
      const at = nextRevision();
      const object = stamped(last, at);
      target.record({ type: 'DELETED', revision: at, atMillis: clock.now(), key, object, previous });
      return object;
    },
    compact(olderThanMillis) {
      if (olderThanMillis === undefined) {
        for (const each of collections.values()) each.compact(revision);
        return;
      }
      let upTo: number | undefined;
      while (marks[0] !== undefined && marks[0].atMillis <= clock.now() - olderThanMillis)
        upTo = marks.shift()?.revision;
      if (upTo !== undefined) for (const each of collections.values()) each.compact(upTo);
    },
  };
}

function nodeNameOf(pod: ApiObject): string {
  const spec = pod['spec'];
  return typeof spec === 'object' && spec !== null && !Array.isArray(spec) && typeof spec['nodeName'] === 'string'
    ? spec['nodeName']
    : '';
}
