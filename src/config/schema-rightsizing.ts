/** The keys of the rightsizing engine. What a policy says itself is not here. */
import * as z from 'zod';
import { type ConfigKey, choice, duration, flag, integer, type KeyTexts, names, text } from './config-key.ts';
import { httpUrl, httpUrlPattern, namespaceOrAll } from './key-formats.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** Beside these, OptiPod's own keys and flags are understood: see aliases.ts. */
export const rightsizingKeys = {
  dryRun: flag(false, {
    env: 'RIGHTSIZING_DRY_RUN',
    description: 'Work out recommendations for every policy and apply none of them.',
  }),
  provider: choice('none', ['none', 'prometheus', 'metrics-server'], {
    env: 'RIGHTSIZING_PROVIDER',
    restart: true,
    description: "Source of usage where a policy's own provider cannot be set up; none: nothing is changed then.",
  }),
  prometheus: {
    url: text('', {
      env: 'RIGHTSIZING_PROMETHEUS_URL',
      restart: true,
      accepted: 'an http or https URL, or nothing',
      format: httpUrl,
      description: 'Prometheus (or Thanos, Mimir, VictoriaMetrics) for policies that name none of their own.',
    }),
    allowedUrls: names({
      env: 'RIGHTSIZING_PROMETHEUS_ALLOWED_URLS',
      restart: true,
      accepted: 'a list of URLs; "https://*.example.org" stands for every host below',
      format: httpUrlPattern,
      description: 'Addresses that policies may name themselves. Empty: none but the one above.',
    }),
    timeout: duration('30s', {
      env: 'RIGHTSIZING_PROMETHEUS_TIMEOUT',
      restart: true,
      min: SECOND,
      description: 'How long one request to a source of usage may take.',
    }),
    step: duration('1m', {
      env: 'RIGHTSIZING_PROMETHEUS_STEP',
      restart: true,
      min: SECOND,
      description: 'Distance of two samples asked for; longer where a window would have too many.',
    }),
    scrapeInterval: duration('30s', {
      env: 'RIGHTSIZING_PROMETHEUS_SCRAPE_INTERVAL',
      restart: true,
      min: SECOND,
      description: 'How often Prometheus scrapes the kubelets: CPU is averaged over four scrapes.',
    }),
    // An answer of 100,000 samples takes 24 MB and a tenth of a second to read.
    sampleBudget: integer(100_000, {
      env: 'RIGHTSIZING_PROMETHEUS_SAMPLE_BUDGET',
      restart: true,
      min: 1000,
      max: 50_000_000,
      description: 'Samples one answer may have; beyond that the step is longer, and then there are more requests.',
    }),
  },
  custom: customSources({
    restart: true,
    description: 'Sources for policies with provider custom, by name.',
  }),
  sampleInterval: duration('30s', {
    env: 'RIGHTSIZING_SAMPLE_INTERVAL',
    restart: true,
    min: SECOND,
    description: 'How often the metrics API is asked; it only knows the present.',
  }),
  collectInterval: duration('5m', {
    env: 'RIGHTSIZING_COLLECT_INTERVAL',
    restart: true,
    min: SECOND,
    description: 'How often sources that know the past are asked for each workload.',
  }),
  maxConcurrentRequests: integer(8, {
    env: 'RIGHTSIZING_MAX_CONCURRENT_REQUESTS',
    restart: true,
    min: 1,
    max: 100,
    description: 'Requests to sources of usage at the same time.',
  }),
  retention: duration('720h', {
    env: 'RIGHTSIZING_RETENTION',
    restart: true,
    min: MINUTE,
    description: 'How long the usage of a workload, or of a container of it, that is gone is remembered.',
  }),
  saveInterval: duration('10m', {
    env: 'RIGHTSIZING_SAVE_INTERVAL',
    restart: true,
    min: 10 * SECOND,
    description: 'How often remembered usage is written to ConfigMaps of operator.namespace.',
  }),
  reconcileInterval: duration('10s', {
    env: 'RIGHTSIZING_RECONCILE_INTERVAL',
    min: SECOND,
    description: 'A policy is worked on at most this often, whatever its reconciliationInterval says.',
  }),
  maxConcurrentResizes: integer(10, {
    env: 'RIGHTSIZING_MAX_CONCURRENT_RESIZES',
    min: 1,
    max: 1000,
    description: 'Resizes under way in the whole cluster.',
  }),
  maxChangesPerMinute: integer(60, {
    env: 'RIGHTSIZING_MAX_CHANGES_PER_MINUTE',
    min: 1,
    max: 10_000,
    description:
      'Changes of pods and templates begun in any minute in the whole cluster. A quarter of them is kept for what gives more memory.',
  }),
  warmUp: duration('2m', {
    env: 'RIGHTSIZING_WARM_UP',
    min: 0,
    description: 'How long a new leader watches before it changes anything.',
  }),
  canaryPeriod: duration('3m', {
    env: 'RIGHTSIZING_CANARY_PERIOD',
    min: 0,
    description: 'How long the first pod of a workload that was given less is watched before the others follow.',
  }),
  revertWindow: duration('30m', {
    env: 'RIGHTSIZING_REVERT_WINDOW',
    min: 0,
    description: 'A decrease is taken back when pods are killed, restart or are no longer ready within this time.',
  }),
  restartMinChange: integer(20, {
    env: 'RIGHTSIZING_RESTART_MIN_CHANGE',
    min: 0,
    max: 100,
    description:
      'Percent by which some amount must fall before pods are replaced, or containers restarted, for less; a step as large as maxStep allows is enough. A raise below it that room cuts short waits for restartCooldown.',
  }),
  restartCooldown: duration('1h', {
    env: 'RIGHTSIZING_RESTART_COOLDOWN',
    min: 0,
    description:
      'Between a change of a workload that replaces its pods or restarts their containers and the next that does so for less, or for a little more (see restartMinChange); also the longest that less of one resource waits there for less of another.',
  }),
  deferredTimeout: duration('5m', {
    env: 'RIGHTSIZING_DEFERRED_TIMEOUT',
    min: SECOND,
    description: 'A resize the node has no room for is taken back after this time.',
  }),
  memoryMargin: integer(10, {
    env: 'RIGHTSIZING_MEMORY_MARGIN',
    min: 0,
    max: 100,
    description: 'Percent a lowered memory limit stays above what is used, and above the recent peak.',
  }),
  forceConflicts: flag(true, {
    env: 'RIGHTSIZING_FORCE_CONFLICTS',
    description:
      'Server-side apply of templates takes over requests that another field manager owns, as OptiPod does, and names it in an event. false: it is left alone, with SSAConflict.',
  }),
  allowedPolicyNamespaces: names({
    env: 'RIGHTSIZING_ALLOWED_POLICY_NAMESPACES',
    restart: true,
    accepted: 'a list of namespaces; "*" is every one, as in OptiPod',
    format: namespaceOrAll,
    description:
      'Policies in these namespaces may select workloads of others, like those in operator.namespace. All others select their own namespace.',
  }),
  limits: {
    maxSafetyFactor: optionalFactor({
      env: 'RIGHTSIZING_LIMITS_MAX_SAFETY_FACTOR',
      restart: true,
      description: 'Policies with a larger safety factor are not valid. None when left out.',
    }),
  },
} as const;

/** A number of at least 1 that may be left out. */
function optionalFactor(texts: KeyTexts): ConfigKey<number | undefined> {
  return {
    ...texts,
    leaf: true,
    schema: z.number('is not a number').min(1, 'must be at least 1').optional(),
    defaultValue: undefined,
    accepted: 'a number of at least 1',
    fromText: (value) => (/^\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : undefined),
  };
}

/** A source for `provider: custom`: an endpoint of its own, or a pair of PromQL templates. */
export interface CustomSourceKey {
  readonly name: string;
  /** Of an endpoint that returns series, or of a Prometheus where `queries` are given; empty: the operator's own. */
  readonly url: string;
  readonly queries: { readonly cpu: string; readonly memory: string } | undefined;
}

/** A list of sources: `name`, and `url` or a pair of PromQL templates. */
function customSources(texts: KeyTexts): ConfigKey<readonly CustomSourceKey[]> {
  const filled = z.string('must be text').min(1, 'cannot be empty');
  const source = z
    .strictObject({
      name: filled,
      url: z
        .string('must be text')
        .refine((value) => value === '' || httpUrl.matches(value), httpUrl.complaint)
        .default(''),
      queries: z.strictObject({ cpu: filled, memory: filled }).optional(),
    })
    .transform(({ name, url, queries }): CustomSourceKey => ({ name, url, queries }));
  return {
    ...texts,
    leaf: true,
    schema: z.array(source, 'is not a list').readonly(),
    defaultValue: [],
    accepted: 'a list, each with name, and url or queries (cpu, memory)',
    fromText: () => undefined,
  };
}
