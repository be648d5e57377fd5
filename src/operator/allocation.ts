/** The allocation engine of one process, put together: what every replica follows, and what the leader does. */
import type { KubeApi } from '../api/kube-api.ts';
import type { Config } from '../config/schema.ts';
import { type AllocationEngine, createAllocationEngine } from '../controllers/allocation/engine.ts';
import type { EngineParts } from '../controllers/engine-parts.ts';
import type { InFlightEviction, Leadership } from '../guard/context.ts';
import type { InFlightResize } from '../guard/size/context.ts';
import type { Store } from '../kube/store.ts';
import type { Millicores } from '../lib/units.ts';
import { aborted } from '../lib/until-aborted.ts';
import type { PodRecord } from '../model/records.ts';
import type { SizedPod } from '../model/sizing-view.ts';
import { type AllocationStores, createAllocationStores } from '../observe/allocation-stores.ts';
import type { NamespaceScope } from '../observe/live-stores.ts';
import type { PodTexts } from '../observe/project-allocation.ts';
import type { LiveSizingView } from '../observe/sizing/live-sizing-view.ts';
import { allocationSettingsOf } from './allocation-settings.ts';
import { oncePerConfig } from './once-per-config.ts';

export interface AllocationOptions extends EngineParts {
  /** The configuration in force. */
  readonly config: () => Config;
  readonly api: KubeApi;
  readonly scope: NamespaceScope | undefined;
  readonly view: LiveSizingView;
  /** Those of the view. */
  readonly pods: Pick<Store<PodRecord>, 'get'>;
  readonly leadership: () => Leadership;
  readonly evictions: () => readonly InFlightEviction[];
  readonly otherResizes: () => readonly InFlightResize[];
  /** `pods/resize` is served; undefined while it is not known. */
  readonly servesResize: () => boolean | undefined;
  readonly adviceOf: (pod: SizedPod) => Millicores | undefined;
}

/** `run` goes on in every replica; `lead` only in the leader, while `run` does. */
export interface Allocation {
  readonly engine: AllocationEngine;
  readonly stores: AllocationStores;
  /** Follows the cluster until `signal` aborts, whoever leads. */
  run(signal: AbortSignal): Promise<void>;
  /** The leader's work, until `signal` aborts. */
  lead(signal: AbortSignal): Promise<void>;
}

export function createAllocation(options: AllocationOptions): Allocation {
  const { config, api, scope, clock, random, log, view, pods } = options;
  const podTexts: PodTexts = (namespace, podName) => pods.get(`${namespace}/${podName}`);
  const stores = createAllocationStores({ api, scope, podTexts, clock, random, log: log.child('informer') });
  const engine = createAllocationEngine({
    ...options,
    stores,
    settings: oncePerConfig(config, allocationSettingsOf),
    workers: Math.max(WORKERS, config().controllers.maxConcurrentReconciles),
  });
  return {
    engine,
    stores,
    async run(signal) {
      // Pods first: records of allocations share texts with theirs.
      await Promise.race([view.onSynced.catch(() => {}), aborted(signal)]);
      await stores.run(signal);
    },
    async lead(signal) {
      await Promise.race([Promise.all([view.onSynced, stores.onSynced]), aborted(signal)]);
      if (!signal.aborted) await engine.run(signal);
    },
  };
}

/** Nodes at a time: most of a pass is waiting for answers. */
const WORKERS = 8;
