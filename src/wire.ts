/** The wiring table of the operator: every component is built once, here, by hand, in start order. */
import { createJournal } from './act/journal.ts';
import { logJournal } from './act/journal-log.ts';
import type { KubeApi } from './api/kube-api.ts';
import type { Config } from './config/schema.ts';
import { reportCosts } from './controllers/placement/cost-metrics.ts';
import type { WorkloadExplanation } from './controllers/placement/explain.ts';
import { createEventRecorder } from './kube/recorder.ts';
import type { Clock } from './lib/clock.ts';
import type { Logger } from './lib/log.ts';
import { createMetrics, type Metrics } from './lib/metrics.ts';
import type { Random } from './lib/random.ts';
import type { WorkloadRef } from './model/cluster-view.ts';
import { createEngines, type Engines, type EnginesOptions } from './operator/engines.ts';
import { createLeadershipLoop, tellAlive } from './operator/leadership.ts';
import { type Lifetime, startLifetime } from './operator/lifetime.ts';
import { createLiveConfig } from './operator/live-config.ts';
import { measureApi } from './operator/measured-api.ts';
import { type OpenPorts, type OperatorPorts, openPorts } from './operator/open-ports.ts';
import { serveDashboard } from './operator/serve-dashboard.ts';
import { reportStores } from './operator/store-metrics.ts';
import { addressAnnotations, addressOf } from './operator/webhook-address.ts';
import type { MutateHandler } from './webhook/handler.ts';
import type { KeyPair } from './webhook/server.ts';

export interface OperatorOptions extends Pick<EnginesOptions, 'sourceProxy'> {
  readonly config: Config;
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Unique to this process; `<host>_<uuid>` by convention. */
  readonly identity: string;
  /** The webhook's certificate, where it does not come from files. */
  readonly keyPair?: KeyPair;
  /** Somebody in this process calls {@link Operator.admit} for new pods, whether or not a webhook is served. Default: not. */
  readonly isAskedDirectly?: boolean;
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
  /** Ends a start that waits for the API server; what has started is ended by {@link Operator.stop}. */
  readonly signal?: AbortSignal;
}

export interface Operator extends Lifetime {
  readonly ports: OperatorPorts;
  /** The webhook's handler, for callers in this process. */
  readonly admit: MutateHandler;
  explain(ref: WorkloadRef): WorkloadExplanation | undefined;
  /** Resolves when all caches have had their first complete list. */
  readonly synced: Promise<void>;
  /** Puts the settings that can change in a running process into force. Ignores the others. */
  applyConfig(config: Config): void;
}

/**
 * Starts the operator; resolves when its ports are open. Caches fill and leadership is sought afterwards.
 * @throws StowageError when a port cannot be opened or the webhook has no usable certificate; the signal's reason when it aborts meanwhile.
 */
export async function startOperator(options: OperatorOptions): Promise<Operator> {
  const { clock, random, identity, log, advertisedHost } = options;
  const live = createLiveConfig(options);
  const { config, rules } = live;
  const metrics = options.metrics ?? createMetrics({ processMetrics: true });
  const api = measureApi(options.api, metrics, clock);
  const journal = createJournal({ clock });
  logJournal(journal, log.child('journal'));
  const events = createEventRecorder({
    api,
    clock,
    random,
    log: log.child('events'),
    controller: 'stowage.io/operator',
    instance: identity,
    onDropped: () => metrics.inc('stowage_events_dropped_total', {}),
  });

  // A knot that is tied by asking later: whoever leads runs the engines, and each engine asks whether this replica leads.
  const leadership = createLeadershipLoop({
    ...options,
    api,
    annotations: () =>
      advertisedHost === undefined || serving.webhook === undefined
        ? {}
        : addressAnnotations({ host: advertisedHost, port: serving.webhook.port }),
    metrics,
    lead: (signal) => engines.lead(signal),
  });
  const isLeader = (): boolean => leadership.current().leader;
  const parts = { live, api, leadership: leadership.current, events, journal, metrics };
  const engines: Engines = createEngines({ ...options, ...parts });
  const { view, spot, sizing, admission, placement } = engines;
  const isSynced = (): boolean => view.freshness().synced;
  const unread = (): string => Array.from(view.unread(), ({ name }) => name).join(', ');
  reportStores(metrics, engines.informers, clock);
  metrics.onRender(() => {
    if (isLeader()) reportCosts(metrics, view, rules());
  });

  const stopping = new AbortController();
  const { signal = stopping.signal } = options;
  const told = { explain: placement.explain, journal, view, isLeader };
  const serving: OpenPorts = await openPorts({
    ...options,
    ...told,
    api,
    admit: admission.handle,
    policyHandlers: sizing?.rightsizing?.handlers,
    ...sizing?.explainers,
    leadership: leadership.current,
    leader: () => addressOf(leadership.leader()),
    isSynced,
    readiness: {
      shutdown: () => (stopping.signal.aborted ? 'the process is ending' : undefined),
      caches: () => (isSynced() ? undefined : `the first lists are not complete: ${unread()}`),
      lease: () => (leadership.isAlive() ? undefined : 'the election loop does not run'),
    },
    openDashboard: () =>
      serveDashboard({
        ...options,
        ...told,
        config,
        rules,
        storm: () => spot.memory.storm(clock.now()),
        sizing,
        leader: () => leadership.leader()?.identity,
      }),
    metrics,
    signal,
  });
  const { ports, webhook } = serving;

  const lifetime = startLifetime({
    ...options,
    stopping,
    act: leadership.run,
    stand: (signal) =>
      Promise.all([
        engines.run(signal),
        events.run(signal),
        webhook?.run(signal),
        tellAlive(metrics, clock, signal),
        live.run(signal),
      ]),
    drain: async () => await webhook?.drain(config().webhook.shutdownDelay),
    close: serving.close,
  });
  return {
    ...lifetime,
    ports,
    admit: admission.handle,
    explain: placement.explain,
    synced: view.onSynced,
    applyConfig(next) {
      live.apply(next);
      engines.wakeAll();
    },
  };
}
