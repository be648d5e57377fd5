/**
 * Watches of owners of ReplicaSets whose types a cluster may or may not serve (Argo Rollouts). A type is followed while
 * it is served and may be read, and let go of when it no longer is; nothing else waits for it.
 */
import type { DiscoveredResource, KubeApi } from '../api/kube-api.ts';
import type { ResourceType } from '../api/resources.ts';
import type { Informer, InformerHandler } from '../kube/informer.ts';
import { type Clock, pause } from '../lib/clock.ts';
import { createDeferred } from '../lib/deferred.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import type { OwnerReference, WorkloadRecord } from '../model/records.ts';
import { informerIn, type NamespaceScope } from './live-stores.ts';
import { createProjections } from './project.ts';
import { type Availability, lookForType, pauseAfter, tellAllRemoved, untilUnavailable } from './served-type.ts';

/** A kind that owns ReplicaSets. */
export interface OwnerKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Workloads of kinds that are not Kubernetes' own. */
export interface OwnerStores {
  /** The types that are followed now, with their complete stores. */
  active(): readonly FollowedType[];
  /** The followed type of an owner; undefined when it is not followed. */
  typeOf(owner: Pick<OwnerReference, 'apiVersion' | 'kind'>): ResourceType | undefined;
  /** Records already there are replayed; a type that is let go of has its records removed. */
  subscribe(handler: InformerHandler<WorkloadRecord>): void;
  /** Resolves when it is known of each kind whether it is followed. */
  readonly onSettled: Promise<void>;
  /** Follows until `signal` aborts. Call once. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

/** Only while it is followed: the store is complete. */
export interface FollowedType {
  readonly type: ResourceType;
  readonly informer: Informer<WorkloadRecord>;
}

export interface OwnerStoresOptions {
  readonly api: KubeApi;
  readonly kinds: readonly OwnerKind[];
  /** Left out, the whole cluster. */
  readonly scope?: NamespaceScope | undefined;
  /** As in `LiveStoresOptions`. */
  readonly sizing?: boolean | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** A first list that takes longer is given up and tried again later: the process must become ready without it. */
const FIRST_LIST_MILLIS = 60_000;

export function createOwnerStores(options: OwnerStoresOptions): OwnerStores {
  const { api, kinds, clock, log } = options;
  const projections = createProjections((message) => log.warn({}, message), { sizing: options.sizing === true });
  const informerOf = (type: ResourceType): Informer<WorkloadRecord> =>
    informerIn(options, type, { ...options, type, project: projections.owner(type) });
  const followed = new Map<OwnerKind, FollowedType>();
  const handlers = new Set<InformerHandler<WorkloadRecord>>();
  const settled = kinds.map(() => createDeferred<void>());
  const lastWord = new Map<OwnerKind, string>();

  /** Each word once, until another is said: it is looked every minute. */
  const say = (owner: OwnerKind, message: string): void => {
    if (lastWord.get(owner) === message) return;
    lastWord.set(owner, message);
    log.info({ ...owner }, message);
  };

  const look = ({ apiVersion, kind }: OwnerKind, signal: AbortSignal): Promise<Availability> => {
    const isIt = (resource: DiscoveredResource): boolean => resource.kind === kind && resource.namespaced;
    return lookForType(api, { apiVersion, isIt, probeNamespaces: options.scope?.namespaces }, signal);
  };

  /** Ends when the type is gone, or `signal` aborts. */
  const followWhileServed = async (
    owner: OwnerKind,
    type: ResourceType,
    settle: () => void,
    signal: AbortSignal,
  ): Promise<void> => {
    const ending = new AbortController();
    const until = AbortSignal.any([signal, ending.signal]);
    const informer = informerOf(type);
    const running = informer.run(until);
    const overdue = pause(clock, FIRST_LIST_MILLIS, until);
    const isComplete = await Promise.race([
      informer.onSynced.then(
        () => true,
        () => false,
      ),
      overdue.then(() => false),
    ]);
    if (isComplete) {
      followed.set(owner, { type, informer });
      for (const handler of handlers) informer.subscribe(handler);
      say(owner, 'Owners of this kind are followed');
      settle();
      await untilUnavailable(informer, (asking) => look(owner, asking), clock, until);
      followed.delete(owner);
    } else if (!signal.aborted) say(owner, 'Owners of this kind are not followed: their first list did not complete');
    ending.abort(new Error('The type is no longer followed.'));
    await running;
    if (!isComplete || signal.aborted) return;
    tellAllRemoved(informer, handlers);
  };

  /** Looks for the type for ever; while it is there, follows it. */
  const follow = async (owner: OwnerKind, settle: () => void, signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const availability = await look(owner, signal);
      if (availability.kind === 'served') await followWhileServed(owner, availability.type, settle, signal);
      else if (!signal.aborted) say(owner, `Owners of this kind are not followed: ${whyNot(availability)}`);
      if (availability.kind !== 'unknown') settle();
      await pause(clock, pauseAfter(availability), signal);
    }
  };

  return {
    active: () => [...followed.values()],
    typeOf({ apiVersion, kind }) {
      for (const [owner, { type }] of followed) if (owner.apiVersion === apiVersion && owner.kind === kind) return type;
      return undefined;
    },
    subscribe(handler) {
      handlers.add(handler);
      for (const { informer } of followed.values()) informer.subscribe(handler);
    },
    onSettled: Promise.all(settled.map(({ promise }) => promise)).then(() => undefined),
    async run(signal) {
      await Promise.all(kinds.map((owner, index) => follow(owner, () => settled[index]?.resolve(), signal)));
    },
  };
}

function whyNot(availability: Exclude<Availability, { readonly kind: 'served' }>): string {
  if (availability.kind === 'unknown') return availability.error;
  return availability.cause === 'forbidden'
    ? 'it may not be read; deploy/rbac-argo.yaml allows it'
    : 'the cluster does not serve it';
}
