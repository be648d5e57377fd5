/** The table of providers, and which source a policy gets. One line a provider: see {@link usageProviders}. */

import type { KubeApi } from '../../api/kube-api.ts';
import { createSemaphore, type Semaphore } from '../../kube/transport/semaphore.ts';
import type { Clock } from '../../lib/clock.ts';
import { describeError } from '../../lib/errors.ts';
import type { Millis } from '../../lib/units.ts';
import type { UsageSettings } from '../../model/usage-settings.ts';
import type { AllowedUrls } from './allowed-url.ts';
import { createGuardedSource } from './guarded-source.ts';
import { createHttpExchange } from './http-exchange.ts';
import type { PodName } from './metrics-server-source.ts';
import type { PrometheusTuning } from './prometheus/prometheus-source.ts';
import type { QueryPair } from './prometheus/promql.ts';
import { customProvider } from './provider-custom.ts';
import { metricsServerProvider } from './provider-metrics-server.ts';
import { prometheusProvider } from './provider-prometheus.ts';
import type { SourceCredentials } from './source-credentials.ts';
import type { SourceProxy } from './source-proxy.ts';
import type { UsageProblem, UsageSource } from './usage-source.ts';

/** A source of the operator's configuration for `provider: custom`; its address needs no allow-list. */
export type CustomSourceConfig =
  | { readonly url: string; readonly credentials?: () => Promise<SourceCredentials> }
  | { readonly url?: string; readonly queries: QueryPair };

export interface UsageSourcesOptions {
  readonly api: Pick<KubeApi, 'get' | 'list' | 'listEach' | 'discover'>;
  readonly clock: Clock;
  readonly prometheus: PrometheusTuning & {
    /** For policies that name none. */
    readonly url: string | undefined;
    /** Addresses that policies may name. */
    readonly allowedUrls: AllowedUrls;
    /** The operator's own credentials, sent to its own address only. Read at each request. */
    readonly credentials?: () => Promise<SourceCredentials>;
  };
  readonly metricsServerIntervalMillis: Millis;
  /** See {@link PodName}. */
  readonly podName?: PodName | undefined;
  readonly custom: Readonly<Record<string, CustomSourceConfig>>;
  /** Used instead of a provider that cannot be set up; undefined: then nothing is collected, and nothing changes. */
  readonly fallbackProvider: string | undefined;
  /** Requests to usage sources at a time, all policies together. */
  readonly maxRequests: number;
  /** The longest answer that is read. */
  readonly maxBytes: number;
  /** Which proxy leads to a server; left out, none does. */
  readonly proxyOf?: SourceProxy | undefined;
  /** More providers, or others under a known name. */
  readonly providers?: Readonly<Record<string, UsageProvider>>;
}

export interface ProviderContext extends UsageSourcesOptions {
  readonly exchange: ReturnType<typeof createHttpExchange>;
  readonly permits: Semaphore;
}

/** A source is made without asking anybody: that it answers is seen at the first turn. */
export type SourceCreation =
  | { readonly ok: true; readonly source: UsageSource }
  | { readonly ok: false; readonly problem: UsageProblem };

/** The port for providers of somebody else: see `providers` of {@link UsageSourcesOptions}. */
export interface UsageProvider {
  /** Policies with equal keys share a source. */
  key(settings: UsageSettings): string;
  create(settings: UsageSettings, context: ProviderContext): SourceCreation;
}

export const usageProviders: Readonly<Record<string, UsageProvider>> = {
  prometheus: prometheusProvider,
  'metrics-server': metricsServerProvider,
  custom: customProvider,
};

/** Which source a policy gets now. */
export type ChosenSource =
  | {
      readonly ok: true;
      readonly source: UsageSource;
      /** The provider in use because the policy's cannot be; undefined: it is the policy's own. */
      readonly fallback: { readonly provider: string; readonly because: UsageProblem } | undefined;
    }
  | { readonly ok: false; readonly problem: UsageProblem };

/** All sources of the process, with what they share: connections, and the limit of requests at a time. */
export interface UsageSources {
  /** Cheap: sources are made once and kept. Never throws, whatever a provider does. */
  sourceFor(settings: UsageSettings): ChosenSource;
  close(): void;
}

/**
 * Policies come and go; sources not asked for longest are dropped beyond this. Nothing is lost with one but what it
 * remembers of its server being down.
 */
const MAX_SOURCES = 256;

export function createUsageSources(options: UsageSourcesOptions): UsageSources {
  const { clock, maxRequests, maxBytes, proxyOf, fallbackProvider } = options;
  const exchange = createHttpExchange({ clock, timeoutMillis: options.prometheus.timeoutMillis, maxBytes, proxyOf });
  const context: ProviderContext = { ...options, exchange, permits: createSemaphore(maxRequests) };
  const table = new Map(Object.entries({ ...usageProviders, ...options.providers }));
  const made = new Map<string, SourceCreation>();

  /** A creation that failed is kept as well: it depends on the settings alone. */
  const create = (name: string, settings: UsageSettings): SourceCreation => {
    const provider = table.get(name);
    if (provider === undefined) {
      const message = `the provider ${JSON.stringify(name)} is not known; known are ${[...table.keys()].join(', ')}`;
      return { ok: false, problem: { reason: 'Misconfigured', message } };
    }
    const key = `${name} ${provider.key(settings)}`;
    const known = made.get(key) ?? attempt(provider, settings, context);
    // Asked for last: at the end of the order.
    made.delete(key);
    made.set(key, known);
    const oldest = made.keys().next().value;
    if (made.size > MAX_SOURCES && oldest !== undefined) made.delete(oldest);
    return known;
  };

  return {
    sourceFor(settings) {
      const own = create(settings.provider, settings);
      if (own.ok) return { ...own, fallback: undefined };
      if (fallbackProvider === undefined || fallbackProvider === settings.provider) return own;
      const other = create(fallbackProvider, settings);
      return other.ok ? { ...other, fallback: { provider: fallbackProvider, because: own.problem } } : own;
    },
    close: () => exchange.close(),
  };
}

function attempt(provider: UsageProvider, settings: UsageSettings, context: ProviderContext): SourceCreation {
  try {
    const created = provider.create(settings, context);
    return created.ok ? { ok: true, source: createGuardedSource(created.source, context.clock) } : created;
  } catch (error) {
    // A provider of somebody else's may throw; that must not be the end of all the others.
    const message = `the provider ${JSON.stringify(settings.provider)} cannot be set up: ${describeError(error)}`;
    return { ok: false, problem: { reason: 'Misconfigured', message } };
  }
}
