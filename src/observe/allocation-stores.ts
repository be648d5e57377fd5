/**
 * PodAllocations as the operator needs them, by pod; waited for without a word where their definition is not installed.
 */
import type { KubeApi } from '../api/kube-api.ts';
import { podAllocations } from '../api/pod-allocation.ts';
import type { Informer } from '../kube/informer.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import { informerIn, type NamespaceScope } from './live-stores.ts';
import { type AllocationRecord, createAllocationProjection, type PodTexts } from './project-allocation.ts';
import { createOptionalInformer } from './sizing/optional-informer.ts';

/** The pod an allocation is for. */
export interface AllocatedPodRef {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** What agents want and what they were told, as the API server has it. */
export interface AllocationStores {
  /** By the full name of what it follows. */
  readonly informers: readonly (readonly [string, Informer<AllocationRecord>])[];
  /**
   * By the pod's uid, or where the object does not say (those of MBCAS), by its name. One that was made for an earlier
   * pod of the same name does not count.
   */
  of(pod: AllocatedPodRef): AllocationRecord | undefined;
  get(namespace: string, name: string): AllocationRecord | undefined;
  all(): Iterable<AllocationRecord>;
  allIn(namespace: string): Iterable<AllocationRecord>;
  /** False while what is known may be out of date: then nothing may be changed on its account. */
  isFresh(): boolean;
  /** Allocations already there are replayed as added. Returns the end of the subscription. */
  onChange(listener: (before: AllocationRecord | undefined, after: AllocationRecord | undefined) => void): () => void;
  /** Resolves when they are listed, or it is known that there is no such type. */
  readonly onSynced: Promise<void>;
  /** Follows until `signal` aborts. Call once. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

export interface AllocationStoresOptions {
  readonly api: KubeApi;
  /** Left out, the whole cluster. */
  readonly scope?: NamespaceScope | undefined;
  /** Left out, records keep these texts themselves. */
  readonly podTexts?: PodTexts | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export function createAllocationStores(options: AllocationStoresOptions): AllocationStores {
  const { scope } = options;
  const project = createAllocationProjection(options.podTexts);
  const informer = createOptionalInformer<AllocationRecord>({
    ...options,
    type: podAllocations,
    probeNamespaces: scope?.namespaces,
    create: () =>
      informerIn(options, podAllocations, {
        ...options,
        type: podAllocations,
        project,
        originOf: ({ uid, version, name }) => ({ uid, version, name }),
      }),
  });
  /** Those that are not named after their pod's uid, by uid or `namespace/name` of the pod. */
  const byPod = new Map<string, AllocationRecord>();
  informer.subscribe({
    onChange(_, before, after) {
      const key = podKey(before);
      // Another object for the same pod may have taken its place meanwhile.
      if (key !== undefined && byPod.get(key)?.uid === before?.uid) byPod.delete(key);
      const newKey = podKey(after);
      if (newKey !== undefined && after !== undefined) byPod.set(newKey, after);
    },
  });
  return {
    informers: [[`${podAllocations.plural}.${podAllocations.group}`, informer]],
    of({ namespace, name, uid }) {
      const named = informer.store.get(`${namespace}/${uid}`);
      return named?.podUID === uid ? named : (byPod.get(uid) ?? byPod.get(`${namespace}/${name}`));
    },
    get: (namespace, name) => informer.store.get(`${namespace}/${name}`),
    all: () => informer.store.values(),
    allIn: (namespace) => informer.store.valuesIn(namespace),
    isFresh: () => informer.freshness() === 'fresh',
    onChange: (listener) => informer.subscribe({ onChange: (_, before, after) => listener(before, after) }),
    onSynced: informer.onSynced,
    run: informer.run,
  };
}

/** Undefined for objects that are found by their own name: those of our agents. */
function podKey(record: AllocationRecord | undefined): string | undefined {
  if (record === undefined || record.podUID === record.name) return undefined;
  // Whatever its spec says, an object speaks of its own namespace only.
  return record.podUID ?? `${record.namespace}/${record.podName}`;
}
