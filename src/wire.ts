/** The wiring table of the operator: every component is built once, here, by hand, in start order. */
import { createJournal, journalOf } from './act/journal.ts';
import { logJournal } from './act/journal-log.ts';
import type { KubeApi } from './api/kube-api.ts';
import { keptUntilRestart } from './config/reload.ts';
import type { Config } from './config/schema.ts';
import { createDisruptions } from './controllers/disruptions.ts';
import { reportCosts } from './controllers/placement/cost-metrics.ts';
import { createPlacementEngine } from './controllers/placement/engine.ts';
import type { WorkloadExplanation } from './controllers/placement/explain.ts';
import { compilePlacementRules } from './controllers/placement/rules.ts';
import { createSpotWatch } from './controllers/spot-watch.ts';
import { createEventRecorder } from './kube/recorder.ts';
import { type Clock, pause } from './lib/clock.ts';
import type { Logger } from './lib/log.ts';
import { createMetrics, type Metrics } from './lib/metrics.ts';
import type { Random } from './lib/random.ts';
import { aborted } from './lib/until-aborted.ts';
import type { WorkloadRef } from './model/cluster-view.ts';
import { createLiveStores } from './observe/live-stores.ts';
import { createLiveView } from './observe/live-view.ts';
import { createOwnerStores } from './observe/owner-stores.ts';
import { createAdmission } from './operator/admission.ts';
import { watchClock } from './operator/clock-watch.ts';
import { createLeadershipLoop, unaskedEnd } from './operator/leadership.ts';
import { measureApi } from './operator/measured-api.ts';
import { type OperatorPorts, openPorts } from './operator/open-ports.ts';
import { placementSettingsOf } from './operator/placement-settings.ts';
import { createPriceSource } from './operator/price-source.ts';
import { serveDashboard } from './operator/serve-dashboard.ts';
import type { ServedWebhook } from './operator/serve-webhook.ts';
import { createSizing } from './operator/sizing.ts';
import { type NamedInformer, reportStores } from './operator/store-metrics.ts';
import { addressAnnotations, addressOf } from './operator/webhook-address.ts';
import type { MutateHandler } from './webhook/handler.ts';
import type { KeyPair } from './webhook/server.ts';

export interface OperatorOptions {
  readonly config: Config;
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Unique to this process; `<host>_<uuid>` by convention. */
  readonly identity: string;
  /** The webhook's certificate, where it does not come from files. */
  readonly keyPair?: KeyPair;
  /** Address the webhook listens on; default all. */
  readonly webhookHost?: string;
  /** Address at which the other replicas reach this one's webhook (the pod's IP); without it each decides by itself. */
  readonly advertisedHost?: string;
  /** Where metrics go; shared with the API client, say. Default: a registry of its own. */
  readonly metrics?: Metrics;
  /** How late the event loop runs, for the leader's caution. */
  readonly loopDelayMillis?: () => number;
  /** Milliseconds that nobody sets, to tell a clock that was set from a process that stood still. Default: the clock's timers. */
  readonly monotonic?: () => number;
}

export interface Operator {
  readonly ports: OperatorPorts;
  /** The webhook's handler, for callers in this process. */
  readonly admit: MutateHandler;
  explain(ref: WorkloadRef): WorkloadExplanation | undefined;
  /** Resolves when all caches have had their first complete list. */
  readonly synced: Promise<void>;
  /** Resolves after {@link stop}; rejects when the operator cannot go on: the lease is lost, or the clock was set. */
  readonly ended: Promise<void>;
  /** Puts the settings that can change in a running process into force. Ignores the others. */
  applyConfig(config: Config): void;
  /** Readiness off, webhook drained, controllers and caches ended, lease released. Safe to call twice. */
  stop(): Promise<void>;
}

const CONTROLLER_NAME = 'spotalis-controller';
const HEARTBEAT_MILLIS = 30_000;

/**
 * Starts the operator; resolves when its ports are open. Caches fill and leadership is sought afterwards.
 * @throws StowageError when a port cannot be opened or the webhook has no usable certificate.
 */
export async function startOperator(options: OperatorOptions): Promise<Operator> {
  const { clock, random, identity } = options;
  const log = options.log;
  let config = options.config;
  let rules = compilePlacementRules(placementSettingsOf(config));
  const prices = createPriceSource({
    path: config.placement.prices,
    clock,
    log: log.child('prices'),
    onChange: (known) => {
      rules = { ...rules, prices: known };
    },
  });
  const stopping = new AbortController();
  const winding = new AbortController();

  const metrics = options.metrics ?? createMetrics({ processMetrics: true });
  const api = measureApi(options.api, metrics, clock);
  const { watchNamespaces } = config.controllers;
  const scope = watchNamespaces.length === 0 ? undefined : { namespaces: watchNamespaces, sides: rules.sides };
  const reading = { api, clock, random, log: log.child('informer'), scope };
  const isSizing = config.engines.rightsizing || config.engines.allocation;
  const stores = createLiveStores({ ...reading, sizing: isSizing });
  const owners = createOwnerStores({ ...reading, sizing: isSizing, kinds: config.placement.owners });
  const view = createLiveView(stores, owners);
  const journal = createJournal({ clock });
  logJournal(journal, log.child('journal'));
  const recorder = createEventRecorder({
    api,
    clock,
    random,
    log: log.child('events'),
    controller: 'stowage.io/operator',
    instance: identity,
    onDropped: () => metrics.inc('stowage_events_dropped_total', {}),
  });
  let webhook: ServedWebhook | undefined;
  // Two knots are tied by asking later. Whoever leads runs the engines, and each engine asks whether this replica leads;
  // what resizes asks what is disrupted, and what disrupts whether a pod is being resized.
  const leadership = createLeadershipLoop({
    ...options,
    api,
    annotations: () =>
      options.advertisedHost === undefined || webhook === undefined
        ? {}
        : addressAnnotations({ host: options.advertisedHost, port: webhook.port }),
    metrics,
    // The caches come first: before their first list everything looks deleted. Sizing waits for its own, and tells
    // policies of those that never come.
    lead: async (signal) => {
      const placing = Promise.race([view.onSynced, aborted(signal)]).then(() =>
        signal.aborted ? undefined : placement.controller.run(signal),
      );
      await Promise.all([placing, sizing?.lead(signal)]);
    },
  });
  const isLeader = (): boolean => leadership.current().leader;
  const spot = createSpotWatch({ view, rules: () => rules, clock, random });
  const disruptions = createDisruptions({
    api,
    view,
    rules: () => rules,
    spot,
    leadership: leadership.current,
    isResizing: (podUid) => sizing?.isResizing(podUid) ?? false,
    clock,
  });
  // Where the handler is called without a server of its own, it shows by an answer.
  let hasAnswered = false;
  const asksForNewPods = (): boolean => config.webhook.enabled || hasAnswered;
  const sizing = createSizing({
    ...options,
    config: () => config,
    api,
    scope,
    stores,
    view,
    leadership: leadership.current,
    disruptions,
    sizesNewPods: asksForNewPods,
    events: recorder,
    journal,
    metrics,
  });
  const admission = createAdmission({
    spot,
    sizes: sizing?.rightsizing?.sizeNewPods,
    api,
    view,
    ownerTypeOf: owners.typeOf,
    rules: () => rules,
    onAnswer() {
      hasAnswered = true;
    },
    metrics,
    clock,
    log,
  });
  const placement = createPlacementEngine({
    spot,
    disruptions,
    steersNewPods: asksForNewPods,
    api,
    view,
    rules: () => rules,
    events: recorder,
    journal: journalOf(journal, 'placement'),
    metrics,
    clock,
    random,
    log,
    workers: config.controllers.maxConcurrentReconciles,
    reconcileIntervalMillis: () => config.controllers.reconcileInterval,
    windowPollMillis: () => config.controllers.workloadTiming.disruptionWindowPollInterval,
  });
  const ownInformers = (): NamedInformer[] => owners.active().map(({ type, informer }) => [type.plural, informer]);
  reportStores(metrics, () => [...Object.entries(stores), ...ownInformers(), ...(sizing?.informers ?? [])], clock);
  metrics.onRender(() => {
    if (isLeader()) reportCosts(metrics, view, rules);
  });

  const serving = await openPorts({
    ...options,
    api,
    admit: admission.handle,
    policyHandlers: sizing?.rightsizing?.handlers,
    explain: placement.explain,
    ...sizing?.explainers,
    journal,
    view,
    isLeader,
    leadership: leadership.current,
    leader: () => addressOf(leadership.leader()),
    readiness: {
      shutdown: () => (stopping.signal.aborted ? 'the process is ending' : undefined),
      caches: () => (view.freshness().synced ? undefined : 'the first lists are not complete'),
      lease: () => (leadership.isAlive() ? undefined : 'the election loop has ended'),
    },
    openDashboard: () =>
      serveDashboard({
        ...options,
        config: () => config,
        view,
        rules: () => rules,
        explain: placement.explain,
        journal,
        storm: () => spot.memory.storm(clock.now()),
        sizing,
        isLeader,
        leader: () => leadership.leader()?.identity,
      }),
    metrics,
  });
  const { ports } = serving;
  webhook = serving.webhook;

  const heartbeat = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      metrics.set('spotalis_controller_last_seen_timestamp', { controller_name: CONTROLLER_NAME }, clock.now() / 1000);
      await pause(clock, HEARTBEAT_MILLIS, signal);
    }
  };
  // Two phases: what decides and acts ends first, what it stands on (caches, events) afterwards.
  const acting = leadership.run(stopping.signal);
  const standing = Promise.all([
    view.run(winding.signal),
    sizing?.run(winding.signal),
    recorder.run(winding.signal),
    admission.run(winding.signal),
    webhook?.run(winding.signal),
    heartbeat(winding.signal),
    prices.run(winding.signal),
  ]);

  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopped ??= (async () => {
      stopping.abort(new Error('The operator is stopping.'));
      await Promise.all([webhook?.drain(config.webhook.shutdownDelay), acting]);
      winding.abort(new Error('The operator is stopping.'));
      await standing;
      await serving.close();
      log.info({}, 'Stopped');
    })();
    return stopped;
  };
  const ended = Promise.race([acting, watchClock(clock, stopping.signal, options.monotonic)]).then(async (how) => {
    const error = how === 'stopped' ? undefined : unaskedEnd(how);
    // At once: stopping takes seconds, and who reads the log wants to know why.
    if (error !== undefined) log.error({ error }, 'The operator ends by itself');
    await stop();
    if (error !== undefined) throw error;
  });
  ended.catch(() => {});

  return {
    ports,
    admit: admission.handle,
    explain: placement.explain,
    synced: view.onSynced,
    ended,
    applyConfig(next) {
      config = keptUntilRestart(config, next);
      rules = compilePlacementRules(placementSettingsOf(config), rules.prices);
      prices.use(config.placement.prices);
      placement.controller.wakeAll();
      sizing?.wakeAll();
    },
    stop,
  };
}
