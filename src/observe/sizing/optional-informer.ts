/**
 * An informer of a type that a cluster may or may not serve: followed while it is served, and otherwise empty and
 * fresh.
 */
import type { KubeApi } from '../../api/kube-api.ts';
import { apiVersionOf, type ResourceType } from '../../api/resources.ts';
import type { Informer, InformerHandler } from '../../kube/informer.ts';
import { type Clock, pause } from '../../lib/clock.ts';
import { createDeferred } from '../../lib/deferred.ts';
import type { Logger } from '../../lib/log.ts';
import { freshnessOf, type JoinedInformer } from '../joined-informer.ts';
import {
  type Availability,
  lookForType,
  pauseAfter,
  type SoughtType,
  tellAllRemoved,
  untilUnavailable,
} from '../served-type.ts';

export interface OptionalInformerOptions<R> {
  readonly api: KubeApi;
  readonly type: ResourceType;
  /** As of a {@link SoughtType}. */
  readonly probeNamespaces?: readonly string[] | undefined;
  /** Makes the informer to run while the type is served. */
  readonly create: () => Informer<R>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Empty and fresh where the type is not served, as there is nothing to know. */
export interface OptionalInformer<R> extends JoinedInformer<R> {
  /**
   * Why a type that is served may not be read; then nothing is known of its objects, which is not that there are none.
   * Guards refuse to change anything beside what they cannot see.
   */
  refusal(): string | undefined;
}

/**
 * `onSynced` resolves when it is known that the type is not served, or may not be read, or once it is listed. Where the
 * right to read is lost later, what was known stays, and is stale.
 */
export function createOptionalInformer<R>(options: OptionalInformerOptions<R>): OptionalInformer<R> {
  const { api, type, probeNamespaces, clock, log } = options;
  let current: Informer<R> | undefined;
  let refusal: string | undefined;
  let lastWord = '';
  const handlers = new Set<InformerHandler<R>>();
  const synced = createDeferred<void>();

  const say = (message: string, details: object = {}): void => {
    if (message === lastWord) return;
    lastWord = message;
    log.info({ resource: type.plural, ...details }, message);
  };

  const sought: SoughtType = {
    apiVersion: apiVersionOf(type),
    isIt: ({ plural }) => plural === type.plural,
    probeNamespaces,
  };
  /** Also remembers why it may not be read. No answer leaves what was known. */
  const look = async (signal: AbortSignal): Promise<Availability> => {
    const availability = await lookForType(api, sought, signal);
    if (availability.kind !== 'unknown') refusal = undefined;
    if (availability.kind === 'unavailable' && availability.cause === 'forbidden') {
      refusal = availability.error ?? 'it may not be read';
      const message =
        'Objects of this type may not be read: what depends on them is left alone until the operator may get, list and watch them';
      say(message, { error: refusal });
    }
    return availability;
  };
  /** Only what is no longer there is forgotten. */
  const lookWhetherGone = async (signal: AbortSignal): Promise<Availability> => {
    const availability = await look(signal);
    return availability.kind === 'unavailable' && availability.cause === 'forbidden'
      ? { kind: 'unknown', error: refusal ?? '' }
      : availability;
  };

  /** With an informer of its own: what an earlier one held is from before the definition was taken away. */
  const follow = async (signal: AbortSignal): Promise<void> => {
    const ending = new AbortController();
    const until = AbortSignal.any([signal, ending.signal]);
    const informer = options.create();
    current = informer;
    for (const handler of handlers) informer.subscribe(handler);
    const running = informer.run(until);
    informer.onSynced.then(
      () => synced.resolve(),
      () => {},
    );
    say('Objects of this type are followed');
    await untilUnavailable(informer, lookWhetherGone, clock, signal);
    current = undefined;
    ending.abort(new Error('The type is no longer followed.'));
    await running;
    if (!signal.aborted) tellAllRemoved(informer, handlers);
  };

  return {
    store: {
      get state() {
        return current?.store.state ?? 'fresh';
      },
      get size() {
        return current?.store.size ?? 0;
      },
      get: (key) => current?.store.get(key),
      has: (key) => current?.store.has(key) === true,
      *keys() {
        if (current !== undefined) yield* current.store.keys();
      },
      *values() {
        if (current !== undefined) yield* current.store.values();
      },
      *valuesIn(namespace) {
        if (current !== undefined) yield* current.store.valuesIn(namespace);
      },
    },
    onSynced: synced.promise,
    subscribe(handler) {
      handlers.add(handler);
      const end = current?.subscribe(handler);
      return () => {
        handlers.delete(handler);
        end?.();
      };
    },
    freshness: () => current?.freshness() ?? 'fresh',
    freshnessIn: (namespace) => (current === undefined ? 'fresh' : freshnessOf(current, namespace)),
    lastContactMillis: () => current?.lastContactMillis() ?? clock.now(),
    lastError: () => current?.lastError(),
    // Of what is followed, the informer tells.
    refusal: () => (current === undefined ? refusal : undefined),
    async run(signal) {
      while (!signal.aborted) {
        const availability = await look(signal);
        if (availability.kind === 'served') await follow(signal);
        if (availability.kind === 'unavailable') synced.resolve();
        await pause(clock, pauseAfter(availability), signal);
      }
    },
  };
}
