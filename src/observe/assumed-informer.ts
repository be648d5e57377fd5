/** Records that stand for objects that may not be read: what is known of them otherwise. */
import type { Informer, InformerHandler } from '../kube/informer.ts';

/** Stands in where an informer is expected and the right to read is not given. */
export interface AssumedInformer<R> extends Informer<R> {
  /** Undefined removes. */
  put(key: string, record: R | undefined): void;
}

export interface AssumedOptions<R> {
  readonly records?: Iterable<readonly [string, R]>;
  /** What is known of every key without a record. */
  readonly otherwise?: (key: string) => R | undefined;
}

/**
 * Always fresh: there is nothing that could be asked, and `run` returns at once. Records by `otherwise` are answered
 * but not listed, and nobody is told of them.
 */
export function createAssumedInformer<R>({
  records = [],
  otherwise = () => undefined,
}: AssumedOptions<R> = {}): AssumedInformer<R> {
  const kept = new Map(records);
  const handlers = new Set<InformerHandler<R>>();
  return {
    store: {
      state: 'fresh',
      get size() {
        return kept.size;
      },
      get: (key) => kept.get(key) ?? otherwise(key),
      has: (key) => kept.has(key),
      keys: () => kept.keys(),
      values: () => kept.values(),
      *valuesIn(namespace) {
        for (const [key, record] of kept) if (key.startsWith(`${namespace}/`)) yield record;
      },
    },
    onSynced: Promise.resolve(),
    subscribe(handler) {
      handlers.add(handler);
      for (const [key, record] of Array.from(kept)) handler.onChange(key, undefined, record);
      return () => handlers.delete(handler);
    },
    freshness: () => 'fresh',
    lastContactMillis: () => 0,
    lastError: () => undefined,
    run: async () => {},
    put(key, record) {
      const before = kept.get(key);
      if (record === undefined) kept.delete(key);
      else kept.set(key, record);
      for (const handler of handlers) handler.onChange(key, before, record);
    },
  };
}
