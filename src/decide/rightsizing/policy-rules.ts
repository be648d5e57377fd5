/**
 * A policy object in the terms of the recommendation: targets, bounds, when a change is due, and what becomes of
 * limits.
 */
import type { Millis } from '../../lib/units.ts';
import type { PolicySpec } from '../../model/policy-spec.ts';
import type { ProfileOptions } from '../../model/usage-profile.ts';
import {
  type CostAwareTarget,
  type CpuTarget,
  defaultPolicy,
  defaultProfileOptions,
  type LimitRule,
  type MemoryTarget,
  type RightsizingPolicy,
} from './policy.ts';

type Resource = 'cpu' | 'memory';

/**
 * Everything a policy leaves open is the default that was measured (docs/rightsizing-method.md). Throws for nothing a
 * valid spec can hold.
 */
export function rulesOf(spec: PolicySpec): RightsizingPolicy {
  const { metrics, bounds, updates } = spec;
  const { minChange, cooldownMillis, maxStepDown, maxStepUp } = updates;
  const step = { maxStepDown, maxStepUp };
  return {
    cpu: {
      target: cpuTargetOf(spec),
      bounds: bounds.cpu,
      change: {
        ...step,
        minChange,
        minAmount: defaultPolicy.cpu.change.minAmount,
        cooldownUpMillis: cooldownMillis,
        cooldownDownMillis: cooldownDown(spec, 'cpu'),
      },
      limit: limitOf(spec, 'cpu'),
    },
    memory: {
      target: memoryTargetOf(spec),
      bounds: bounds.memory,
      change: {
        ...step,
        // Its room may be as little as a tenth: a raise that waits for a tenth comes when all of it is used.
        minChange: isCostAware(spec) ? Math.min(minChange, defaultPolicy.memory.change.minChange) : minChange,
        minAmount: defaultPolicy.memory.change.minAmount,
        // Whoever waits for memory is killed meanwhile.
        cooldownUpMillis: 0,
        cooldownDownMillis: cooldownDown(spec, 'memory'),
      },
      limit: limitOf(spec, 'memory'),
    },
    mayChangeLimits: !updates.updateRequestsOnly,
    memoryDecrease: updates.memoryDecrease,
    hpa: spec.hpa,
    minHistoryMillis: metrics.minHistoryMillis,
    minSamples: metrics.minSamples,
    staleAfterMillis: defaultPolicy.staleAfterMillis,
  };
}

const isCostAware = ({ metrics }: PolicySpec): boolean => metrics.strategy === 'CostAware';

/** What CostAware saves by a decrease so soon after another change is not worth it. */
function cooldownDown(spec: PolicySpec, resource: Resource): Millis {
  const { cooldownMillis } = spec.updates;
  return isCostAware(spec)
    ? Math.max(cooldownMillis, defaultPolicy[resource].change.cooldownDownMillis)
    : cooldownMillis;
}

/** How usage is remembered for this policy. */
export function profileOptionsOf({ metrics }: PolicySpec): ProfileOptions {
  return {
    ...defaultProfileOptions,
    ...(metrics.strategy === 'Histogram' && { usualHalfLifeMillis: metrics.halfLifeMillis }),
    startupExclusionMillis: metrics.startupExclusionMillis,
  };
}

function cpuTargetOf(spec: PolicySpec): CpuTarget {
  const { strategy, costAware } = spec.metrics;
  if (strategy !== 'CostAware') return plainTarget(spec, strategy, 'cpu');
  const { target } = defaultPolicy.cpu;
  if (target.strategy !== 'CostAware') throw new Error('the default for CPU is CostAware');
  const { exceededHours, minGainUp, minGainDown } = costAware;
  return { ...target, exceeded: exceededHours, minGainUp, minGainDown };
}

/** Too little memory kills, so CostAware has no price for it: memory follows its peaks. */
function memoryTargetOf(spec: PolicySpec): MemoryTarget {
  const { strategy } = spec.metrics;
  return strategy === 'CostAware' ? defaultPolicy.memory.target : plainTarget(spec, strategy, 'memory');
}

function plainTarget(
  { metrics }: PolicySpec,
  strategy: 'Percentile' | 'Histogram' | 'Max',
  resource: Resource,
): Exclude<CpuTarget, CostAwareTarget> {
  const percentile = metrics.percentile[resource];
  const safetyFactor = metrics.safetyFactor[resource];
  switch (strategy) {
    case 'Percentile':
      return { strategy, percentile, safetyFactor };
    case 'Histogram':
      return { strategy, percentile, margin: safetyFactor - 1, halfLifeMillis: metrics.halfLifeMillis };
    case 'Max':
      return { strategy, lookBackMillis: metrics.rollingWindowMillis, safetyFactor };
  }
}

function limitOf({ updates }: PolicySpec, resource: Resource): LimitRule {
  const { policy, multiplier, headroom } = updates.limits;
  if (updates.updateRequestsOnly || policy === 'Keep') return { policy: 'Keep' };
  if (policy === 'Ratio') return { policy: 'Ratio' };
  if (policy === undefined) return { policy: 'Multiplier', factor: multiplier[resource] };
  const amount = headroom[resource];
  return amount === undefined ? { policy: 'Keep' } : { policy: 'Headroom', headroom: amount };
}
