/** Turns a checked spec into numbers, matchers and windows. */
import { compileLabelSelector } from '../api/label-selector.ts';
import { managedKinds, type PolicyKind } from '../api/optimization-policy.ts';
import type { ParsedPolicySpec } from '../api/optimization-policy-schema.ts';
import { toLabelSelector } from '../api/optimization-policy-selector-schema.ts';
import { percentOfPercentile } from '../api/policy-values.ts';
import { parseQuantity, type Quantity, toBytes, toMillicores } from '../lib/quantity.ts';
import type { DisruptionWindow } from '../lib/schedule.ts';
import type { Millis } from '../lib/units.ts';
import type {
  PolicyBounds,
  PolicyLimits,
  PolicyMetrics,
  PolicySelector,
  PolicySpec,
  PolicyUpdates,
} from './policy-spec.ts';

/** What an hour above the request costs, where the policy does not say (docs/rightsizing-method.md). */
const EXCEEDED_HOURS = { Serving: 28, Batch: 4 } as const;
/**
 * A source is asked for all of it, also again and again of a workload without pods: of years that would be thousands of
 * requests, and whoever may write a policy could keep everybody's usage from being read.
 */
const MAX_WINDOW_MILLIS: Millis = 90 * 86_400_000;
const DEFAULT_GAIN_UP = 0.3;
const DEFAULT_GAIN_DOWN = 0.33;
const DEFAULT_LIMITS: PolicyLimits = {
  policy: undefined,
  multiplier: { cpu: 1, memory: 1.1 },
  headroom: { cpu: undefined, memory: undefined },
};

/** The included kinds without the excluded ones; nothing included means the three that OptiPod manages. */
export function activeKinds(
  include: readonly PolicyKind[] = [],
  exclude: readonly PolicyKind[] = [],
): ReadonlySet<PolicyKind> {
  const kinds = new Set<PolicyKind>(include.length > 0 ? include : managedKinds);
  for (const kind of exclude) kinds.delete(kind);
  return kinds;
}

/** @param window parsed from `updateStrategy.schedule`. */
export function readPolicySpec(spec: ParsedPolicySpec, window: DisruptionWindow | undefined): PolicySpec {
  const { cpu, memory } = spec.resourceBounds;
  return {
    mode: spec.mode,
    weight: spec.weight,
    scope: spec.scope,
    selector: readSelector(spec.selector),
    metrics: readMetrics(spec.metricsConfig),
    bounds: { cpu: readBounds(cpu, toMillicores), memory: readBounds(memory, toBytes) },
    updates: readUpdates(spec.updateStrategy, window),
    intervalMillis: spec.reconciliationInterval,
    hpa: spec.hpa,
    annotateRecommendations: spec.annotateRecommendations,
  };
}

function readSelector(selector: ParsedPolicySpec['selector']): PolicySelector {
  const { namespaceSelector, workloadSelector, namespaces, workloadTypes } = selector;
  const compile = (given: typeof namespaceSelector) =>
    given === undefined ? undefined : compileLabelSelector(toLabelSelector(given));
  return {
    matchesNamespace: compile(namespaceSelector),
    matchesWorkload: compile(workloadSelector),
    allow: new Set(namespaces?.allow),
    deny: new Set(namespaces?.deny),
    kinds: activeKinds(workloadTypes?.include, workloadTypes?.exclude),
  };
}

function readMetrics(metrics: ParsedPolicySpec['metricsConfig']): PolicyMetrics {
  const { percentile, percentiles, safetyFactor, safetyFactors, costAware, prometheus, custom } = metrics;
  return {
    provider: metrics.provider,
    rollingWindowMillis: Math.min(MAX_WINDOW_MILLIS, metrics.rollingWindow),
    ...(metrics.rollingWindow > MAX_WINDOW_MILLIS && { isWindowCut: true }),
    strategy: metrics.strategy,
    percentile: {
      cpu: percentOfPercentile(percentiles?.cpu ?? percentile),
      memory: percentOfPercentile(percentiles?.memory ?? percentile),
    },
    safetyFactor: { cpu: safetyFactors?.cpu ?? safetyFactor, memory: safetyFactors?.memory ?? safetyFactor },
    minSamples: metrics.minSamples,
    minHistoryMillis: metrics.minHistory,
    startupExclusionMillis: metrics.startupExclusion,
    halfLifeMillis: metrics.halfLife,
    costAware: {
      exceededHours: costAware?.exceededHours ?? EXCEEDED_HOURS[costAware?.workload ?? 'Serving'],
      minGainUp: costAware?.minGain ?? DEFAULT_GAIN_UP,
      minGainDown: costAware?.minGainDown ?? DEFAULT_GAIN_DOWN,
    },
    prometheus: {
      url: prometheus?.url,
      headersSecret: prometheus?.headersSecretRef?.name,
      bearerTokenSecret: prometheus?.bearerTokenSecretRef,
      caSecret: prometheus?.caSecretRef,
      labels: prometheus?.labels ?? {},
    },
    customSource: custom?.name,
  };
}

function readBounds<Unit>(
  { min, max }: { readonly min: string; readonly max: string },
  convert: (quantity: Quantity) => Unit,
): PolicyBounds<Unit> {
  return { min: convert(parseQuantity(min)), max: convert(parseQuantity(max)) };
}

function readUpdates(updates: ParsedPolicySpec['updateStrategy'], window: DisruptionWindow | undefined): PolicyUpdates {
  const { limitConfig, maxStep } = updates;
  return {
    allowInPlaceResize: updates.allowInPlaceResize,
    allowRecreate: updates.allowRecreate,
    updateRequestsOnly: updates.updateRequestsOnly,
    useServerSideApply: updates.useServerSideApply,
    limits:
      limitConfig === undefined
        ? DEFAULT_LIMITS
        : {
            policy: limitConfig.policy,
            multiplier: { cpu: limitConfig.cpuLimitMultiplier, memory: limitConfig.memoryLimitMultiplier },
            headroom: {
              cpu: amount(limitConfig.headroom?.cpu, toMillicores),
              memory: amount(limitConfig.headroom?.memory, toBytes),
            },
          },
    minChange: updates.minChange,
    cooldownMillis: updates.cooldown,
    maxStepUp: maxStep.up,
    maxStepDown: maxStep.down,
    memoryDecrease: updates.memoryDecrease,
    evictToResize: updates.evictToResize,
    sizePerReplica: updates.sizePerReplica,
    window,
  };
}

function amount<Unit>(text: string | undefined, convert: (quantity: Quantity) => Unit): Unit | undefined {
  return text === undefined ? undefined : convert(parseQuantity(text));
}
