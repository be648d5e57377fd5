/** One shared informer per resource type for all stand-ins, with the indexes they look things up by. */
import type { KubeObject, Pod } from '../api/core.ts';
import type { KubeApi } from '../api/kube-api.ts';
import { type ResourceType, resources } from '../api/resources.ts';
import { createInformer, type Informer } from '../kube/informer.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import { controllerOf, namespaceOf, uidOf } from './objects.ts';

/**
 * Told of every change: no `before` means added, no `after` means removed. An object that took the place of another one
 * of its name is added once that one is removed, also where nobody watched meanwhile: both given are states of one.
 */
export type ChangeListener<T> = (before: T | undefined, after: T | undefined) => void;

/** A local, read-only copy of all objects of one type. Objects are shared: never change one. */
export interface ObjectCache<T extends KubeObject> {
  readonly size: number;
  /** By `namespace/name`, or `name` for cluster-wide types. */
  get(key: string): T | undefined;
  all(): Iterable<T>;
  inNamespace(namespace: string): Iterable<T>;
  /** Objects already there are told as added. */
  onChange(listener: ChangeListener<T>): void;
  /** A lookup by a derived value, kept up to date before listeners registered later are told. */
  index(lookupKey: (object: T) => string | undefined): (value: string) => Iterable<T>;
}

/** Those whose controller this is. Who names an owner in another namespace has none. */
export type OwnedObjects<T extends KubeObject> = (owner: KubeObject) => Iterable<T>;

export function byController<T extends KubeObject>(cache: ObjectCache<T>): OwnedObjects<T> {
  const byUid = cache.index((object) => controllerOf(object)?.uid);
  return function* (owner) {
    for (const object of byUid(uidOf(owner))) if (namespaceOf(object) === namespaceOf(owner)) yield object;
  };
}

/**
 * Each type is listed and watched once, however many stand-ins read it. They lag behind the server as real caches do.
 */
export interface Caches {
  of<T extends KubeObject>(type: ResourceType<T>): ObjectCache<T>;
  podsOfController: OwnedObjects<Pod>;
  podsOnNode(name: string): Iterable<Pod>;
  /** Resolves when every type asked for so far is listed. */
  synced(): Promise<void>;
  /** Follows the server until `signal` aborts. Types must be asked for before. Call once. */
  run(signal: AbortSignal): Promise<void>;
}

export interface CachesOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Caches on an API. Nothing is fetched before `run`. */
export function createCaches(options: CachesOptions): Caches {
  const informers = new Map<string, { informer: Informer<KubeObject>; cache: unknown }>();

  const of = <T extends KubeObject>(type: ResourceType<T>): ObjectCache<T> => {
    const key = `${type.group}/${type.plural}`;
    const known = informers.get(key);
    // The key determines the type, so the cache stored under it is one of T.
    if (known !== undefined) return known.cache as ObjectCache<T>;
    const informer = createInformer<T, T>({ ...options, type, project: (object) => object });
    const cache = createObjectCache(informer);
    informers.set(key, { informer, cache });
    return cache;
  };

  const pods = of(resources.pods);
  return {
    of,
    podsOfController: byController(pods),
    podsOnNode: pods.index((pod) => pod.spec?.nodeName),
    async synced() {
      await Promise.all([...informers.values()].map(({ informer }) => informer.onSynced));
    },
    async run(signal) {
      await Promise.all([...informers.values()].map(({ informer }) => informer.run(signal)));
    },
  };
}

function createObjectCache<T extends KubeObject>(informer: Informer<T>): ObjectCache<T> {
  const { store } = informer;
  const index = (lookupKey: (object: T) => string | undefined): ((value: string) => Iterable<T>) => {
    const byValue = new Map<string, Map<string, T>>();
    informer.subscribe({
      onChange(key, before, after) {
        const old = before === undefined ? undefined : lookupKey(before);
        const value = after === undefined ? undefined : lookupKey(after);
        if (old !== undefined && old !== value) {
          const bucket = byValue.get(old);
          bucket?.delete(key);
          if (bucket?.size === 0) byValue.delete(old);
        }
        if (after === undefined || value === undefined) return;
        const bucket = byValue.get(value) ?? new Map<string, T>();
        byValue.set(value, bucket.set(key, after));
      },
    });
    return (value) => byValue.get(value)?.values() ?? [];
  };
  return {
    get size() {
      return store.size;
    },
    get: (key) => store.get(key),
    all: () => store.values(),
    inNamespace: index((object) => object.metadata?.namespace),
    onChange(listener) {
      informer.subscribe({
        onChange(_, before, after) {
          const isAnother = before !== undefined && after !== undefined && uidOf(before) !== uidOf(after);
          if (isAnother) listener(before, undefined);
          listener(isAnother ? undefined : before, after);
        },
      });
    },
    index,
  };
}
