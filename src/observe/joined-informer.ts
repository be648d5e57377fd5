/**
 * Several informers of one type, each for one namespace, as one: for an operator that may only read some namespaces.
 */
import { isForbidden } from '../api/kube-error.ts';
import type { Informer } from '../kube/informer.ts';
import type { Freshness, Store } from '../kube/store.ts';
import { type Clock, pause } from '../lib/clock.ts';
import { createDeferred } from '../lib/deferred.ts';
import type { Millis } from '../lib/units.ts';

export interface JoinedInformer<R> extends Informer<R> {
  /** Of one of the namespaces; of any other there is nothing to know. */
  freshnessIn(namespace: string): Freshness;
}

/** How often it is looked whether each namespace has answered, until all have. */
const LOOK_MILLIS: Millis = 1_000;

/**
 * As stale as the stalest of them, but for those that may not be read: with a namespace goes its Role, and what becomes
 * of one must not hold up all others. What is known of such a one is as stale as ever ({@link freshnessIn}). Where none
 * may be read, nothing is known.
 * @param byNamespace at least one. Keys of records are `namespace/name`.
 */
export function joinInformers<R>(byNamespace: ReadonlyMap<string, Informer<R>>, clock: Clock): JoinedInformer<R> {
  const all = [...byNamespace.values()];
  const storeOf = (key: string): Store<R> | undefined => byNamespace.get(key.slice(0, key.indexOf('/')))?.store;
  const counted = (): readonly Informer<R>[] => {
    const readable = all.filter((informer) => !isRefused(informer));
    return readable.length === 0 ? all : readable;
  };
  const freshness = (): Freshness => stalest(counted().map((informer) => informer.freshness()));
  const synced = createDeferred<void>();
  /** No informer tells that it is refused. */
  const untilSynced = async (signal: AbortSignal): Promise<void> => {
    while (freshness() === 'initial') {
      await pause(clock, LOOK_MILLIS, signal);
      if (signal.aborted) return synced.reject(signal.reason);
    }
    synced.resolve();
  };
  Promise.all(all.map((informer) => informer.onSynced)).then(
    () => synced.resolve(),
    () => {},
  );
  return {
    store: {
      get state() {
        return freshness();
      },
      get size() {
        return all.reduce((sum, { store }) => sum + store.size, 0);
      },
      get: (key) => storeOf(key)?.get(key),
      has: (key) => storeOf(key)?.has(key) === true,
      *keys() {
        for (const { store } of all) yield* store.keys();
      },
      *values() {
        for (const { store } of all) yield* store.values();
      },
      *valuesIn(namespace) {
        const own = byNamespace.get(namespace);
        if (own !== undefined) yield* own.store.valuesIn(namespace);
      },
    },
    onSynced: synced.promise,
    subscribe(handler) {
      const ends = all.map((informer) => informer.subscribe(handler));
      return () => {
        for (const end of ends) end();
      };
    },
    freshness,
    freshnessIn: (namespace) => byNamespace.get(namespace)?.freshness() ?? 'fresh',
    lastContactMillis: () => Math.min(...counted().map((informer) => informer.lastContactMillis())),
    lastError: () =>
      counted()
        .map((informer) => informer.lastError())
        .find((error) => error !== undefined),
    async run(signal) {
      await Promise.all([...all.map((informer) => informer.run(signal)), untilSynced(signal)]);
    },
  };
}

/**
 * How far an informer may be trusted.
 * @param namespace also about this one; left out, about all that may be read.
 */
export function freshnessOf(informer: Informer<unknown>, namespace?: string): Freshness {
  const own = informer.freshness();
  return namespace === undefined || !isJoined(informer) ? own : stalest([own, informer.freshnessIn(namespace)]);
}

function isJoined<R>(informer: Informer<R>): informer is JoinedInformer<R> {
  return 'freshnessIn' in informer;
}

function isRefused(informer: Informer<unknown>): boolean {
  return informer.freshness() !== 'fresh' && isForbidden(informer.lastError());
}

function stalest(states: readonly Freshness[]): Freshness {
  if (states.includes('initial')) return 'initial';
  return states.includes('stale') ? 'stale' : 'fresh';
}
