/** The engines of one process, on one view and one budget: what each replica answers, and what the leader does. */
import { journalOf } from '../act/journal.ts';
import type { KubeApi } from '../api/kube-api.ts';
import { createDisruptions } from '../controllers/disruptions.ts';
import type { EngineParts } from '../controllers/engine-parts.ts';
import { createPlacementEngine, type PlacementEngine } from '../controllers/placement/engine.ts';
import { createSpotWatch, type SpotWatch } from '../controllers/spot-watch.ts';
import type { Leadership } from '../guard/context.ts';
import { aborted } from '../lib/until-aborted.ts';
import { createLiveStores } from '../observe/live-stores.ts';
import { createLiveView, type LiveView } from '../observe/live-view.ts';
import { createOddClocks } from '../observe/odd-clocks.ts';
import { createOwnerStores } from '../observe/owner-stores.ts';
import { type Admission, createAdmission } from './admission.ts';
import type { LiveConfig } from './live-config.ts';
import { createSizing, type Sizing, type SizingOptions } from './sizing.ts';
import { type NamedInformer, reportClocks } from './store-metrics.ts';

export interface EnginesOptions extends EngineParts, Pick<SizingOptions, 'sourceProxy'> {
  readonly live: LiveConfig;
  readonly api: KubeApi;
  readonly leadership: () => Leadership;
}

/** `run` goes on in every replica, `lead` in the leader beside it. */
export interface Engines {
  readonly view: LiveView;
  /** Of all that is read. */
  readonly informers: () => readonly NamedInformer[];
  readonly spot: SpotWatch;
  readonly sizing: Sizing | undefined;
  readonly admission: Admission;
  readonly placement: PlacementEngine;
  /** Looks at everything soon: the configuration changed. */
  wakeAll(): void;
  /** Follows the cluster until `signal` aborts, whoever leads. */
  run(signal: AbortSignal): Promise<void>;
  /** The leader's work, until `signal` aborts. */
  lead(signal: AbortSignal): Promise<void>;
}

export function createEngines(options: EnginesOptions): Engines {
  const { api, leadership, clock, random, log } = options;
  const { config, rules } = options.live;
  const { operator, engines: on, controllers, placement: placing } = config();
  const namespaces = controllers.watchNamespaces;
  const scope = namespaces.length === 0 ? undefined : { namespaces, sides: rules().sides };
  const isSizing = on.rightsizing || on.allocation;
  const reading = { api, clock, random, log: log.child('informer'), scope, sizing: isSizing };
  const oddClocks = createOddClocks(reading.log, clock);
  reportClocks(options.metrics, oddClocks);
  const stores = createLiveStores({ ...reading, oddClocks });
  const owners = createOwnerStores({ ...reading, kinds: placing.owners });
  const view = createLiveView(stores, owners, operator.namespace);
  // From here on all follow the view, which must not have had its first list yet.
  const spot = createSpotWatch({ view, rules, clock, random });
  // A knot that is tied by asking later: what resizes asks what is disrupted, and what disrupts whether a pod is being resized.
  const isResizing = (podUid: string): boolean => sizing?.isResizing(podUid) ?? false;
  const disruptions = createDisruptions({ api, view, rules, spot, leadership, isResizing, clock });
  const steersNewPods = (): boolean => rules().settings.steersNewPods !== false;
  if (on.placement && !steersNewPods())
    log.child('placement').warn({}, 'webhook.enabled is false: nothing steers new pods, so placement moves none');
  const sizing = createSizing({
    ...options,
    config,
    scope,
    stores,
    view,
    disruptions,
    sizesNewPods: steersNewPods,
  });
  const admission = createAdmission({
    ...options,
    view,
    rules,
    spot,
    sizes: sizing?.rightsizing?.sizeNewPods,
    ownerTypeOf: owners.typeOf,
  });
  const placement = createPlacementEngine({
    ...options,
    view,
    rules,
    spot,
    disruptions,
    steersNewPods,
    journal: journalOf(options.journal, 'placement'),
    workers: controllers.maxConcurrentReconciles,
    reconcileIntervalMillis: () => config().controllers.reconcileInterval,
    windowPollMillis: () => config().controllers.workloadTiming.disruptionWindowPollInterval,
  });
  const ownerInformers = (): NamedInformer[] => owners.active().map(({ type, informer }) => [type.plural, informer]);
  return {
    view,
    informers: () => [...Object.entries(stores), ...ownerInformers(), ...(sizing?.informers ?? [])],
    spot,
    sizing,
    admission,
    placement,
    wakeAll() {
      placement.controller.wakeAll();
      sizing?.wakeAll();
    },
    async run(signal) {
      await Promise.all([view.run(signal), sizing?.run(signal), admission.run(signal)]);
    },
    // The caches come first: before their first list everything looks deleted. Sizing waits for its own, and tells
    // policies of those that never come.
    async lead(signal) {
      const placing = Promise.race([view.onSynced, aborted(signal)]).then(() =>
        signal.aborted ? undefined : placement.controller.run(signal),
      );
      await Promise.all([placing, sizing?.lead(signal)]);
    },
  };
}
