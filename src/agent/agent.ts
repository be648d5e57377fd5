/**
 * The node agent: samples, plans, writes, and answers for it. Killed or cut off it leaves nothing behind that changes a
 * pod.
 */
import type { ConfigMap } from '../api/core.ts';
import type { KubeApi } from '../api/kube-api.ts';
import { isNotFound } from '../api/kube-error.ts';
import { resources } from '../api/resources.ts';
import { type Clock, pause } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import type { Millis } from '../lib/units.ts';
import { reportTick } from './agent-report.ts';
import { createAllocationWriter } from './allocation-writer.ts';
import { createFileReader } from './cgroup/file-reader.ts';
import { createDemandMetrics } from './demand-metrics.ts';
import type { AgentHealth } from './health.ts';
import { createLiveSettings } from './live-settings.ts';
import type { AgentMetrics } from './metrics-text.ts';
import { createNodeStores } from './node-stores.ts';
import { queryPrometheus } from './prometheus-query.ts';
import { createQuotaCheck } from './quota-check.ts';
import { createRenewal } from './renewal.ts';
import { createSampler, type Sampler } from './sampler.ts';
import { createSteadyTime } from './steady-time.ts';
import { createTicks } from './ticks.ts';

export interface AgentOptions {
  readonly api: KubeApi;
  readonly nodeName: string;
  /** Of the ConfigMaps. */
  readonly namespace: string;
  /** Where control groups and `/proc` of the host are mounted. */
  readonly cgroupRoot: string;
  readonly procRoot: string;
  /** In place of one that reads those files; left out, they are read. */
  readonly sampler?: Sampler;
  readonly isObserving: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly monotonic: () => Millis;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: AgentMetrics;
}

/** One node's. Reads files and the API, writes PodAllocations of its own pods, and nothing else. */
export interface Agent {
  run(signal: AbortSignal): Promise<void>;
  health(): AgentHealth;
  /** Undefined when it has sampled and knows all it needs; else what is missing. */
  unready(): string | undefined;
}

/** Of what is read of the past, a few ticks; but a tick at least. Rings are this long, so it bounds their memory. */
const LONGEST_WINDOW: Millis = 20_000;
/** Two ticks, but no less: an API server under load takes seconds. */
const LEAST_WRITE_DEADLINE: Millis = 5000;
/**
 * Of a server in trouble, before the operator takes the agent for gone: with the half minute since its last sign of life,
 * trouble of a minute is over in time.
 */
const TRIES_IN_TIME = 10;

export function createAgent(options: AgentOptions): Agent {
  const { api, nodeName, namespace, clock, monotonic, random, log, metrics } = options;
  const settings = createLiveSettings({ ...options, log: log.child('settings') });
  const stores = createNodeStores({ api, nodeName, clock, random, log: log.child('stores') });
  const sampler =
    options.sampler ??
    createSampler({
      mount: options.cgroupRoot,
      proc: options.procRoot,
      files: createFileReader(),
      monotonic,
      log: log.child('sampler'),
      intervalMillis: () => settings.current().samplingMillis,
      longestWindowMillis: () => Math.max(LONGEST_WINDOW, settings.current().tickMillis),
    });
  const writer = createAllocationWriter({
    api,
    clock,
    monotonic,
    log: log.child('writer'),
    deadlineMillis: () => Math.max(LEAST_WRITE_DEADLINE, 2 * settings.current().tickMillis),
    longestTroubleMillis: () => settings.current().staleMillis / TRIES_IN_TIME,
  });
  const steady = createSteadyTime(clock, monotonic);
  const demand = createDemandMetrics({
    queries: async () => await readQueries(api, namespace),
    query: (text, signal) => {
      const { prometheus } = settings.current();
      return prometheus === undefined ? undefined : queryPrometheus(prometheus, text, signal);
    },
    nodeName,
    clock,
    monotonic,
    steady: steady.now,
    onResult: (result) => metrics.inc('mbcas_demand_query_total', { result }),
    log: log.child('demand'),
  });
  const startedAt = clock.now();
  const quotas = createQuotaCheck({ sampler, log: log.child('quotas') });
  const ticks = createTicks({
    settings,
    stores,
    sampler,
    demand,
    writer,
    renewal: createRenewal({ nodeName, stores }),
    quotas,
    steady,
    clock,
    monotonic,
    metrics,
    log: log.child('ticks'),
  });
  metrics.onRender(() => {
    metrics.set('mbcas_agent_unread_groups', {}, sampler.problems().length);
    metrics.set('mbcas_agent_unenforced_limits', {}, quotas.lost);
    const last = ticks.last();
    if (last === undefined) return;
    const known = new Map(stores.pods().map((each) => [each.pod.uid, each]));
    const systemUse = sampler.node(settings.current().tickMillis).system;
    const metricOf = (uid: string) => {
      const pod = known.get(uid);
      return pod === undefined ? undefined : demand.of(pod);
    };
    reportTick(metrics, last, { nodeName, systemUse, metricOf });
  });

  /** Samples at a steady pace, and plans at every so many samples. A tick that fails ends nothing. */
  const loop = async (signal: AbortSignal): Promise<void> => {
    let dueMillis = monotonic();
    let lastTickMillis = Number.NEGATIVE_INFINITY;
    while (!signal.aborted) {
      const { samplingMillis, tickMillis } = settings.current();
      try {
        ticks.sample();
        // Timers are a little early or late; half a sample decides which tick it is.
        if (monotonic() - lastTickMillis >= tickMillis - samplingMillis / 2) {
          lastTickMillis = monotonic();
          ticks.tick(signal);
        }
      } catch (error) {
        log.error({ error }, 'A tick failed; the next one starts from what is known then');
      }
      // What was missed, by a suspended machine say, is not made up for.
      dueMillis = Math.max(dueMillis + samplingMillis, monotonic());
      await pause(clock, dueMillis - monotonic(), signal);
    }
  };

  return {
    async run(signal) {
      await Promise.all([settings.run(signal), stores.run(signal), loop(signal)]);
      sampler.close();
    },
    health: () => ({
      cgroupDetection: sampler.describe(),
      podsTracked: stores.pods().length,
      podsManaged: ticks.last()?.plan.pods.length ?? 0,
      lastSampleAt: ticks.lastSampleAt,
      lastWriteAt: ticks.lastWriteAt,
      samplesSinceStart: sampler.samples,
      writesSinceStart: ticks.writes,
      startedAt,
      now: clock.now(),
      gracePeriodMillis: settings.current().rules.startupGraceMillis,
      blockedBecause: ticks.blockedBecause(),
      isWriterWaiting: writer.isWaiting(),
      problems: sampler.problems(),
    }),
    unready: () => (sampler.samples === 0 ? 'no sample was taken yet' : ticks.blockedBecause()),
  };
}

/** Administrators' queries by name; none where there is no such ConfigMap. */
async function readQueries(api: KubeApi, namespace: string): Promise<Readonly<Record<string, string>>> {
  try {
    const { data }: ConfigMap = await api.get(resources.configMaps, 'mbcas-demand-queries', {
      namespace,
      lane: 'bulk',
    });
    return data ?? {};
  } catch (error) {
    if (isNotFound(error)) return {};
    throw error;
  }
}
