/** The engines that size pods, on one view and aware of each other: what one has under way the other lets be. */

import { journalOf } from '../act/journal.ts';
import type { KubeApi } from '../api/kube-api.ts';
import type { Config } from '../config/schema.ts';
import type { Disruptions } from '../controllers/disruptions.ts';
import type { EngineParts } from '../controllers/engine-parts.ts';
import type { Leadership } from '../guard/context.ts';
import type { LiveStores, NamespaceScope } from '../observe/live-stores.ts';
import type { LiveView } from '../observe/live-view.ts';
import { createResizeSupportProbe } from '../observe/resize-support.ts';
import { createSizingView, type LiveSizingView } from '../observe/sizing/live-sizing-view.ts';
import { createSizingStores } from '../observe/sizing/sizing-stores.ts';
import { type Allocation, createAllocation } from './allocation.ts';
import type { ExplainEndpointOptions } from './endpoints.ts';
import { createRightsizing, type Rightsizing, type RightsizingOptions } from './rightsizing.ts';
import type { NamedInformer } from './store-metrics.ts';

export interface SizingOptions extends EngineParts, Pick<RightsizingOptions, 'sourceProxy'> {
  /** The configuration in force. */
  readonly config: () => Config;
  readonly api: KubeApi;
  readonly scope: NamespaceScope | undefined;
  /** Made with `sizing: true`. */
  readonly stores: LiveStores;
  readonly view: LiveView;
  readonly leadership: () => Leadership;
  /** What every engine that disrupts draws on. */
  readonly disruptions: Disruptions;
  /** Pods are admitted through this operator's webhook. */
  readonly sizesNewPods: () => boolean;
}

/** `run` goes on in every replica, `lead` in the leader beside it. */
export interface Sizing {
  readonly view: LiveSizingView;
  readonly rightsizing: Rightsizing | undefined;
  readonly allocation: Allocation | undefined;
  /** Of all that is read beside what placement reads. */
  readonly informers: readonly NamedInformer[];
  /** A resize of the pod was asked for, whether or not the view shows it. */
  isResizing(podUid: string): boolean;
  /** What each tells of a workload. */
  readonly explainers: Pick<ExplainEndpointOptions, 'sizing' | 'allocation'>;
  /** Looks at everything soon: the configuration changed. */
  wakeAll(): void;
  /** Follows the cluster until `signal` aborts, whoever leads. */
  run(signal: AbortSignal): Promise<void>;
  /** The leader's work, until `signal` aborts. */
  lead(signal: AbortSignal): Promise<void>;
}

/** Nothing where neither engine is on. */
export function createSizing(options: SizingOptions): Sizing | undefined {
  const { config, api, scope, stores, clock, random, log } = options;
  const { engines } = config();
  if (!engines.rightsizing && !engines.allocation) return undefined;
  const reading = { api, clock, random, log: log.child('informer'), scope };
  const sizingStores = createSizingStores(reading);
  const view = createSizingView({
    view: options.view,
    stores,
    sizingStores,
    areNodesHidden: scope !== undefined,
  });
  const support = createResizeSupportProbe({ api, clock, log: log.child('sizing'), onChange: () => wakeAll() });
  const { servesResize } = support;
  const allocation: Allocation | undefined = engines.allocation
    ? createAllocation({
        ...options,
        journal: journalOf(options.journal, 'allocation'),
        servesResize,
        evictions: options.disruptions.list,
        view,
        pods: stores.pods.store,
        otherResizes: () => rightsizing?.engine.resizes.list() ?? [],
        adviceOf: (pod) => rightsizing?.cpuAdviceOf(pod),
      })
    : undefined;
  const rightsizing: Rightsizing | undefined = engines.rightsizing
    ? createRightsizing({
        ...options,
        journal: journalOf(options.journal, 'rightsizing'),
        servesResize,
        view,
        otherResizes: () => allocation?.engine.resizes.list() ?? [],
        isAllocated: (pod) => allocation?.engine.isAllocated(pod) ?? false,
      })
    : undefined;
  const both = [allocation, rightsizing].filter((each) => each !== undefined);
  const wakeAll = (): void => {
    for (const { engine } of both) engine.controller.wakeAll();
  };
  return {
    view,
    rightsizing,
    allocation,
    informers: [
      ...Object.entries(sizingStores),
      ...(rightsizing?.policies.informers ?? []),
      ...(allocation?.stores.informers ?? []),
    ],
    isResizing: (podUid) => both.some(({ engine }) => engine.resizes.isResizing(podUid)),
    explainers: { sizing: rightsizing?.engine.explain, allocation: allocation?.engine.explain },
    wakeAll,
    run: async (signal) => {
      await Promise.all([view.run(signal), support.run(signal), ...both.map((each) => each.run(signal))]);
    },
    lead: async (signal) => {
      await Promise.all(both.map((each) => each.lead(signal)));
    },
  };
}
