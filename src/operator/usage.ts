/**
 * Where usage comes from and where it is remembered: sources, book, collector and its store, as the configuration says.
 */
import { createProfileStore } from '../act/save-profiles.ts';
import type { KubeApi } from '../api/kube-api.ts';
import type { Config } from '../config/schema.ts';
import { createProfileKeeper } from '../controllers/rightsizing/keep-profiles.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { Random } from '../lib/random.ts';
import { UsageBook } from '../model/usage-book.ts';
import type { UsageTarget } from '../model/usage-settings.ts';
import type { LiveSizingView } from '../observe/sizing/live-sizing-view.ts';
import type { UsageCollector } from '../observe/usage/collector-port.ts';
import { defaultLabelNames } from '../observe/usage/prometheus/promql.ts';
import type { SourceProxy } from '../observe/usage/source-proxy.ts';
import { createUsageCollector } from '../observe/usage/usage-collector.ts';
import { type CustomSourceConfig, createUsageSources } from '../observe/usage/usage-providers.ts';

export interface UsageOptions {
  readonly config: Config;
  readonly api: KubeApi;
  readonly view: LiveSizingView;
  readonly targets: () => readonly UsageTarget[];
  readonly isLeader: () => boolean;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Which proxy leads to a source of usage. Default: none. */
  readonly sourceProxy?: SourceProxy | undefined;
}

/** Readers may ask at any time; on replicas that do not lead nothing is known. */
export interface Usage {
  readonly collector: UsageCollector;
  /** The leader's work: reads what is saved, then collects and saves until `signal` aborts. */
  lead(signal: AbortSignal): Promise<void>;
}

/** Far beyond an answer of the default sample budget, 100,000 at some 30 bytes each. */
const MAX_ANSWER_BYTES = 64 << 20;
/** How often targets are looked through: a new workload or a kill waits no longer. */
const TICK_MILLIS = 5_000;

/** Nothing is asked before `lead`. */
export function createUsage(options: UsageOptions): Usage {
  const { config, api, view, targets, isLeader, metrics, clock, random } = options;
  const { rightsizing, operator } = config;
  const { url, allowedUrls, timeout, step, scrapeInterval, sampleBudget } = rightsizing.prometheus;
  const log = options.log.child('usage');
  const book = new UsageBook({ random, retentionMillis: rightsizing.retention });
  const sources = createUsageSources({
    api,
    clock,
    prometheus: {
      url: url === '' ? undefined : url,
      allowedUrls,
      timeoutMillis: timeout,
      stepMillis: step,
      scrapeMillis: scrapeInterval,
      rateMillis: undefined,
      sampleBudget,
      names: defaultLabelNames,
    },
    metricsServerIntervalMillis: rightsizing.sampleInterval,
    podName: (namespace, name) => view.pod(namespace, name)?.pod.name ?? name,
    custom: Object.fromEntries(rightsizing.custom.map((source) => [source.name, customSource(source)])),
    fallbackProvider: rightsizing.provider === 'none' ? undefined : rightsizing.provider,
    maxRequests: rightsizing.maxConcurrentRequests,
    maxBytes: MAX_ANSWER_BYTES,
    proxyOf: options.sourceProxy,
  });
  const collector = createUsageCollector({
    view,
    targets,
    sources,
    book,
    clock,
    random,
    log,
    schedule: {
      tickMillis: Math.min(TICK_MILLIS, rightsizing.sampleInterval),
      rangeMillis: rightsizing.collectInterval,
      instantMillis: rightsizing.sampleInterval,
      concurrency: rightsizing.maxConcurrentRequests,
    },
    onFetch: ({ source, millis }) =>
      metrics.observe('optipod_metrics_collection_duration_seconds', { provider: providerOf(source) }, millis / 1000),
  });
  const store = createProfileStore({ api, namespace: operator.namespace, isLeader, log });
  const keeper = createProfileKeeper({ store, book, clock, random, log, intervalMillis: rightsizing.saveInterval });
  return {
    collector,
    async lead(signal) {
      await keeper.restore(signal);
      if (signal.aborted) return;
      await Promise.all([collector.run(signal), keeper.run(signal)]);
    },
  };
}

/** `custom/mine` is of the provider custom; addresses and names of sources are no labels. */
function providerOf(source: string): string {
  return source.split('/')[0] ?? source;
}

function customSource({ url, queries }: Config['rightsizing']['custom'][number]): CustomSourceConfig {
  if (queries === undefined) return { url };
  return url === '' ? { queries } : { url, queries };
}
