/**
 * Every setting the agent takes: the keys of the ConfigMap `mbcas-agent-config` and variables `MBCAS_*` as MBCAS has
 * them, and Stowage's own `allocation.*` with `STOWAGE_ALLOCATION_*`. A row says what a value does, or why it does
 * nothing here.
 */
import type { AllocationRules } from '../decide/allocation/rules.ts';
import type { Millis } from '../lib/units.ts';
import { cpuAmount, duration, flag, httpUrl, names, number, oneOf, type SettingKind } from './setting-kinds.ts';

/** Of one agent, complete. */
export interface AgentSettings {
  readonly samplingMillis: Millis;
  /** Distance of two plans. */
  readonly tickMillis: Millis;
  /** How often the agent writes one object so that it counts as alive. */
  readonly renewMillis: Millis;
  /** When the operator takes an agent that is silent for gone. */
  readonly staleMillis: Millis;
  readonly prometheus: URL | undefined;
  readonly rules: AllocationRules;
}

/** One setting. Rows are applied in the order of the table, those of the ConfigMap before variables. */
export interface SettingRow {
  /** In the ConfigMap; undefined where there is only a variable. */
  readonly key?: string;
  readonly env?: string;
  /** @returns the settings with the value put in, or what would have been accepted. */
  apply(settings: AgentSettings, text: string): AgentSettings | { readonly accepted: string };
  /** Why a value that is accepted changes nothing. */
  readonly without?: string;
  /** All that is accepted, where that is a handful of words: the chart refuses others. */
  readonly words?: readonly string[];
}

function row<Value>(
  name: { readonly key?: string; readonly env?: string },
  kind: SettingKind<Value>,
  change: (settings: AgentSettings, value: Value) => AgentSettings,
): SettingRow {
  return {
    ...name,
    ...(kind.words !== undefined && { words: kind.words }),
    apply(settings, text) {
      const value = kind.read(text.trim());
      return value === undefined ? { accepted: kind.accepted } : change(settings, value);
    },
  };
}

/** A row of MBCAS: the variable is `MBCAS_` and the words of the key. */
const mbcas = <Value>(
  key: string,
  kind: SettingKind<Value>,
  change: (settings: AgentSettings, value: Value) => AgentSettings,
  env = envName('MBCAS_', key),
): SettingRow => row({ key, env }, kind, change);

const own = <Value>(
  name: string,
  kind: SettingKind<Value>,
  change: (rules: AllocationRules, value: Value) => AllocationRules,
): SettingRow =>
  row({ key: `allocation.${name}`, env: envName('STOWAGE_ALLOCATION_', name) }, kind, (settings, value) =>
    withRules(settings, change(settings.rules, value)),
  );

/** Accepted, checked and said to do nothing. */
const idle = (key: string | undefined, kind: SettingKind<unknown>, without: string, env?: string): SettingRow => ({
  ...row(
    { ...(key !== undefined && { key }), ...{ env: env ?? envName('MBCAS_', key ?? '') } },
    kind,
    (settings) => settings,
  ),
  without,
});

function envName(prefix: string, key: string): string {
  const words = key.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').replaceAll(/([A-Z])([A-Z][a-z])/g, '$1_$2');
  return `${prefix}${words.toUpperCase()}`;
}

const withRules = (settings: AgentSettings, rules: AllocationRules): AgentSettings => ({ ...settings, rules });
const SECOND = 1000;
const MINUTE = 60_000;
const percent = number(0, 100);
const share = number(0, 1);
const noLearning = 'nothing is learned by reinforcement here: the optimum is computed';
const noStep = 'raises are as large as the bargain says; allocation.stepUp bounds them';
const noCost = 'demand falls by fixed steps after calm ticks';

/** To add a setting, add a row; the order is that in which problems are told. */
export const settingTable: readonly SettingRow[] = [
  mbcas('samplingInterval', duration(200, MINUTE), (settings, samplingMillis) => ({ ...settings, samplingMillis })),
  mbcas('fastLoopInterval', duration(500, MINUTE), (settings, tickMillis) => ({ ...settings, tickMillis })),
  mbcas('writeInterval', duration(0, 10 * MINUTE), (settings, millis) =>
    withRules(settings, {
      ...settings.rules,
      write: { ...settings.rules.write, spacingUpMillis: millis, spacingDownMillis: 2 * millis },
    }),
  ),
  mbcas('minChangePercent', percent, (settings, value) =>
    withRules(settings, { ...settings.rules, write: { ...settings.rules.write, minShare: value / 100 } }),
  ),
  mbcas('systemReservePercent', percent, (settings, value) =>
    withRules(settings, { ...settings.rules, margin: value / 100 }),
  ),
  mbcas('baselineCPUPerPod', cpuAmount, (settings, baseline) => withRules(settings, { ...settings.rules, baseline })),
  mbcas('startupGracePeriod', duration(0, 60 * MINUTE), (settings, startupGraceMillis) =>
    withRules(settings, { ...settings.rules, startupGraceMillis }),
  ),
  mbcas('throttlingThreshold', share, (settings, throttledRatio) =>
    withRules(settings, { ...settings.rules, demand: { ...settings.rules.demand, throttledRatio } }),
  ),
  mbcas('prometheusURL', httpUrl, (settings, url) => ({ ...settings, prometheus: url ?? undefined })),
  idle(
    'slowLoopInterval',
    duration(500, 60 * MINUTE),
    'one loop does both; decreases are spaced by allocation.spacingDown',
  ),
  idle('totalClusterCPUCapacityMilli', number(1, 1e9), 'capacity is the node’s allocatable CPU less what others hold'),
  idle('sloTargetLatencyMs', number(0, 1e7), 'a target belongs to a pod: the annotation mbcas.io/target-latency-ms'),
  idle('p99ThresholdMultiplier', number(0.001, 1000), 'it belongs in the target of the pod’s demand metric'),
  idle('fastStepSizeMin', share, noStep),
  idle('fastStepSizeMax', share, noStep),
  idle('allocationMechanism', oneOf('nash', 'primal-dual'), 'both name the same optimum, which is computed exactly'),
  idle('enableKalmanPrediction', flag, 'demand is tracked up at once'),
  idle('enableBatchReconciliation', flag, 'writes are always ordered, decreases first'),
  idle('enablePriceResponse', flag, 'the price follows from the optimum'),
  idle('enableAgentBasedModeling', flag, noLearning),
  idle('coalitionGroupingAnnotation', oneOf('mbcas.io/coalition'), 'that is the annotation'),
  idle('agentLearningRate', share, noLearning),
  idle('agentDiscountFactor', share, noLearning),
  idle('agentExplorationRate', share, noLearning),
  idle('agentMemorySize', number(1, 1e6), noLearning),
  idle(undefined, number(1, 1e6), 'coalitions of any size are solved', 'MBCAS_MAX_COALITION_SIZE'),
  idle(undefined, number(1, 1e6), 'a minute of samples is kept', 'MBCAS_MAX_HISTORY_SIZE'),
  idle(undefined, number(0, 1e9), 'use is measured however small', 'MBCAS_MIN_USAGE_MICROSECONDS'),
  idle(undefined, number(0, 1e6), noStep, 'MBCAS_MAX_DEMAND_MULTIPLIER'),
  idle(undefined, number(0, 1e6), 'the kernel’s least quota of 10m is the floor', 'MBCAS_ABSOLUTE_MIN_ALLOCATION'),
  row({ env: 'MBCAS_WANT_HEADROOM_FACTOR' }, number(0, 10), (settings, factor) =>
    withRules(settings, { ...settings.rules, demand: { ...settings.rules.demand, usageFactor: 1 + factor } }),
  ),
  idle(undefined, number(0, 10), 'claims come from requests or from rightsizing', 'MBCAS_NEED_HEADROOM_FACTOR'),
  idle(undefined, flag, noCost, 'MBCAS_COST_EFFICIENCY_MODE'),
  idle(undefined, share, noCost, 'MBCAS_ALPHA_DOWN'),
  idle(undefined, share, noCost, 'MBCAS_ALPHA_UP'),
  idle(undefined, share, noCost, 'MBCAS_IDLE_DECAY_RATE'),
  idle(undefined, share, 'throttling raises demand by its own measure', 'MBCAS_TARGET_THROTTLING'),
  own('apply', oneOf('requests+ceilings', 'limits', 'observe'), (rules, apply) => ({ ...rules, apply })),
  own('ceilings', oneOf('greedy', 'all', 'existing', 'none'), (rules, ceilings) => ({ ...rules, ceilings })),
  own('managementMode', oneOf('optIn', 'optOut'), (rules, managementMode) => ({ ...rules, managementMode })),
  own('excludedNamespaces', names, (rules, excludedNamespaces) => ({ ...rules, excludedNamespaces })),
  own('disagreement', oneOf('claim', 'zero'), (rules, disagreement) => ({ ...rules, disagreement })),
  own('overload', oneOf('weights', 'tiers'), (rules, overload) => ({ ...rules, overload })),
  own('quantum', oneOf('1', '10'), (rules, quantum) => ({ ...rules, quantum: quantum === '10' ? 10 : 1 })),
  own('margin', share, (rules, margin) => ({ ...rules, margin })),
  own('surplusShare', share, (rules, surplusShare) => ({ ...rules, surplusShare })),
  own('claimShare', share, (rules, claimShare) => ({ ...rules, claimShare })),
  own('stepDown', share, (rules, stepDown) => ({ ...rules, stepDown })),
  own('stepUp', number(0, 1000), (rules, stepUp) => ({ ...rules, stepUp })),
  own('userLimits', oneOf('keep', 'lift'), (rules, userLimits) => ({ ...rules, userLimits })),
  own('greedyCeiling', number(1, 100), (rules, greedyCeiling) => ({ ...rules, greedyCeiling })),
  own('looseCeiling', number(1, 100), (rules, looseCeiling) => ({ ...rules, looseCeiling })),
  own('requestRatio', number(0.01, 1), (rules, requestRatio) => ({ ...rules, requestRatio })),
  own('spacingUp', duration(0, 10 * MINUTE), (rules, spacingUpMillis) => ({
    ...rules,
    write: { ...rules.write, spacingUpMillis },
  })),
  own('spacingDown', duration(0, 10 * MINUTE), (rules, spacingDownMillis) => ({
    ...rules,
    write: { ...rules.write, spacingDownMillis },
  })),
  own('writesPerMinute', number(1, 60), (rules, perMinute) => ({ ...rules, write: { ...rules.write, perMinute } })),
  own('weightBase', oneOf('equal', 'request'), (rules, base) => ({ ...rules, weight: { ...rules.weight, base } })),
  own('priorityCurve', oneOf('log', 'anchors', 'legacy', 'none'), (rules, priorityCurve) => ({
    ...rules,
    weight: { ...rules.weight, priorityCurve },
  })),
  own('trustedNamespaces', names, (rules, trustedNamespaces) => ({
    ...rules,
    weight: { ...rules.weight, trustedNamespaces },
  })),
  own('tenantAnnotations', oneOf('any', 'bounded'), (rules, tenantAnnotations) => ({ ...rules, tenantAnnotations })),
  row(
    { key: 'allocation.renewInterval', env: 'STOWAGE_ALLOCATION_RENEW_INTERVAL' },
    duration(5 * SECOND, 10 * MINUTE),
    (settings, renewMillis) => ({
      ...settings,
      renewMillis,
    }),
  ),
  row(
    { key: 'allocation.staleAfter', env: 'STOWAGE_ALLOCATION_STALE_AFTER' },
    duration(10 * SECOND, 60 * MINUTE),
    (settings, staleMillis) => ({ ...settings, staleMillis }),
  ),
];
