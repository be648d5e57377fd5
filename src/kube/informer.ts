/** A projected, self-updating local copy of one resource type, with change notification and freshness. */
import type { KubeObject } from '../api/core.ts';
import { createDeferred } from '../lib/deferred.ts';
import { type ReflectorOptions, runReflector } from './reflector.ts';
import type { ReflectorSink } from './reflector-events.ts';
import {
  createStore,
  type Freshness,
  keyOf,
  type Projection,
  type RecordOrigin,
  type Store,
  type StoreChange,
} from './store.ts';

/**
 * What it throws is logged and reaches nobody else. A change is told once; a handler may read the store, which shows it
 * already.
 */
export interface InformerHandler<R> {
  /**
   * Called synchronously after the store changed. `before` is undefined for an added record, `after` for a removed one.
   */
  onChange(key: string, before: R | undefined, after: R | undefined): void;
}

/** For readers: what is known, and how far it may be trusted. */
export interface Informer<R> {
  readonly store: Store<R>;
  /** Resolves once the store holds a complete listing; rejects when the informer was stopped before. */
  readonly onSynced: Promise<void>;
  /** Records already there are replayed as added. Returns the function that ends the subscription. */
  subscribe(handler: InformerHandler<R>): () => void;
  freshness(): Freshness;
  /** When the server was last heard for this type, epoch milliseconds; 0 before the first answer. */
  lastContactMillis(): number;
  /** Why the store is not fresh; undefined while it is. */
  lastError(): unknown;
  /** Follows the server until `signal` aborts. Call once. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

export interface InformerOptions<T extends KubeObject, R> extends Omit<ReflectorOptions<T>, 'sink'> {
  /** Pure: what to keep of an object; undefined keeps nothing. Called once per event or listed item. */
  readonly project: Projection<T, R>;
  /** Records equal by this rule cause no notification. Default: any new resourceVersion notifies. */
  readonly isEqual?: (before: R, after: R) => boolean;
  /** For records that know of which state of an object they are: see {@link createStore}. */
  readonly originOf?: (record: R) => RecordOrigin;
}

/**
 * The server is not asked before `run`. Whatever cannot be projected is left out with a log line; so is a handler that
 * fails.
 */
export function createInformer<T extends KubeObject, R>(options: InformerOptions<T, R>): Informer<R> {
  const { type, clock, log } = options;
  /** One object that cannot be projected must not keep all others from being followed. */
  const project: Projection<T, R> = (object, before) => {
    try {
      return options.project(object, before);
    } catch (error) {
      log.error({ resource: type.plural, key: keyOf(object), error }, 'An object could not be read and is left out');
      return undefined;
    }
  };
  const local = createStore(project, options.isEqual, options.originOf);
  const handlers = new Set<InformerHandler<R>>();
  const synced = createDeferred<void>();
  let contactMillis = 0;
  let lastError: unknown;

  const notify = (handler: InformerHandler<R>, change: StoreChange<R>): void => {
    try {
      handler.onChange(change.key, change.before, change.after);
    } catch (error) {
      log.error({ resource: type.plural, key: change.key, error }, 'A change handler failed');
    }
  };
  const publish = (change: StoreChange<R> | undefined): void => {
    if (change === undefined) return;
    for (const handler of handlers) notify(handler, change);
  };

  const sink: ReflectorSink<T> = {
    begin() {
      const replacement = local.beginReplacement();
      return {
        add: replacement.add,
        remove: replacement.remove,
        commit: () => {
          for (const change of replacement.commit()) publish(change);
        },
      };
    },
    upsert: (object) => publish(local.upsert(object)),
    remove: (object) => publish(local.remove(object)),
    onContact() {
      contactMillis = clock.now();
    },
    onState(state, error) {
      lastError = error;
      if (state === 'fresh') {
        local.setState('fresh');
        synced.resolve();
      } else if (local.store.state !== 'initial') local.setState('stale');
    },
  };

  return {
    store: local.store,
    onSynced: synced.promise,
    subscribe(handler) {
      handlers.add(handler);
      for (const key of Array.from(local.store.keys()))
        notify(handler, { key, before: undefined, after: local.store.get(key) });
      return () => handlers.delete(handler);
    },
    freshness: () => local.store.state,
    lastContactMillis: () => contactMillis,
    lastError: () => lastError,
    async run(signal) {
      await runReflector({ ...options, sink }, signal);
      synced.reject(signal.reason ?? new Error(`The informer of ${type.plural} was stopped.`));
    },
  };
}
