/**
 * Several informers of one type, each for one namespace, as one: for an operator that may only read some namespaces.
 */
import type { Informer } from '../kube/informer.ts';
import type { Freshness, Store } from '../kube/store.ts';

/**
 * As stale as the stalest of them: what may not be read of one namespace may be what a decision depends on.
 * @param byNamespace at least one. Keys of records are `namespace/name`.
 */
export function joinInformers<R>(byNamespace: ReadonlyMap<string, Informer<R>>): Informer<R> {
  const all = [...byNamespace.values()];
  const storeOf = (key: string): Store<R> | undefined => byNamespace.get(key.slice(0, key.indexOf('/')))?.store;
  const freshness = (): Freshness => {
    const states = all.map((informer) => informer.freshness());
    if (states.includes('initial')) return 'initial';
    return states.includes('stale') ? 'stale' : 'fresh';
  };
  const onSynced = Promise.all(all.map((informer) => informer.onSynced)).then(() => undefined);
  onSynced.catch(() => {});
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
    },
    onSynced,
    subscribe(handler) {
      const ends = all.map((informer) => informer.subscribe(handler));
      return () => {
        for (const end of ends) end();
      };
    },
    freshness,
    lastContactMillis: () => Math.min(...all.map((informer) => informer.lastContactMillis())),
    lastError: () => all.map((informer) => informer.lastError()).find((error) => error !== undefined),
    async run(signal) {
      await Promise.all(all.map((informer) => informer.run(signal)));
    },
  };
}
