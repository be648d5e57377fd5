/** What a policy says about sizing one container, resource by resource, with the defaults. */
import type { HpaMode, MemoryDecrease } from '../../api/optimization-policy.ts';
import type { Bytes, Millicores, Millis } from '../../lib/units.ts';
import type { ProfileOptions } from '../../model/usage-profile.ts';
import type { CostWeights } from './cost-aware.ts';

export interface PercentileTarget {
  readonly strategy: 'Percentile';
  /** 0..100 */
  readonly percentile: number;
  /** At least 1. */
  readonly safetyFactor: number;
}

export interface CostAwareTarget extends CostWeights {
  readonly strategy: 'CostAware';
  /** Spans of six hours, the current one among them, that a raise goes by; and those that a decrease must be right by, too. */
  readonly spansUp: number;
  readonly spansDown: number;
  /** A change must lower the expected cost by this share of the lowest: upwards, downwards. */
  readonly minGainUp: number;
  readonly minGainDown: number;
}

export interface PeakTarget {
  readonly strategy: 'Peak';
  /** Peaks this old count; older ones are forgotten. */
  readonly lookBackMillis: Millis;
  /** Room above the peak: as much as the container has shown to grow within a day, but at least and at most this share. */
  readonly minRoom: number;
  readonly maxRoom: number;
}

/** VPA's own way: a percentile of what is usual, and a margin. Memory: of the peaks, older ones counting for less. */
export interface HistogramTarget {
  readonly strategy: 'Histogram';
  /** 0..100 */
  readonly percentile: number;
  /** Added on top, as a share: 0.15 for VPA's default. */
  readonly margin: number;
  /** Age at which a memory peak counts half. */
  readonly halfLifeMillis: Millis;
}

/** The highest use seen, times a factor. */
export interface MaxTarget {
  readonly strategy: 'Max';
  /** Memory peaks this old count; CPU knows its highest use by its fading histogram. */
  readonly lookBackMillis: Millis;
  /** At least 1. */
  readonly safetyFactor: number;
}

export interface Bounds {
  readonly min: number;
  readonly max: number;
}

export interface ChangeRules {
  /** Changes of less than this share of the current request are not worth it. */
  readonly minChange: number;
  /** Nor are changes of less than this amount. */
  readonly minAmount: number;
  /** Least time between a change and one upwards; and downwards. */
  readonly cooldownUpMillis: Millis;
  readonly cooldownDownMillis: Millis;
  /** A single change takes away no more than this share, 0..1. */
  readonly maxStepDown: number;
  /** Nor gives more than this share on top; undefined: any. Whoever had no request gets all at once. */
  readonly maxStepUp?: number | undefined;
}

export type LimitRule =
  /** Limits stay as they are; a request is capped at its limit. */
  | { readonly policy: 'Keep' }
  /** The limit keeps its ratio to the request. */
  | { readonly policy: 'Ratio' }
  /** The limit is the request and this much. */
  | { readonly policy: 'Headroom'; readonly headroom: number }
  /** The limit is the request times this factor, as OptiPod's limitConfig has it. */
  | { readonly policy: 'Multiplier'; readonly factor: number };

export interface ResourceRules<Target> {
  readonly target: Target;
  readonly bounds: Bounds;
  readonly change: ChangeRules;
  readonly limit: LimitRule;
}

export type CpuTarget = CostAwareTarget | PercentileTarget | HistogramTarget | MaxTarget;
export type MemoryTarget = PeakTarget | PercentileTarget | HistogramTarget | MaxTarget;

export interface RightsizingPolicy {
  readonly cpu: ResourceRules<CpuTarget>;
  readonly memory: ResourceRules<MemoryTarget>;
  /** False (`updateRequestsOnly`): limits stay as they are, whatever else is said. */
  readonly mayChangeLimits: boolean;
  readonly memoryDecrease: MemoryDecrease;
  readonly hpa: HpaMode;
  /** History that makes advice trustworthy: with less it may raise a request, never lower it. 0 trusts any. */
  readonly minHistoryMillis: Millis;
  /** Samples of a resource that make its advice trustworthy, in the same way. */
  readonly minSamples: number;
  /** Without a sample for this long, advice is frozen. */
  readonly staleAfterMillis: Millis;
}

const HOUR: Millis = 3_600_000;
const DAY: Millis = 24 * HOUR;
const MIB: Bytes = 1024 * 1024;
const CORE: Millicores = 1000;

/** How usage is remembered for the defaults below. */
export const defaultProfileOptions: ProfileOptions = {
  usualHalfLifeMillis: DAY,
  startupExclusionMillis: 120_000,
};

/**
 * The same for every container. Figures for them, on recordings and on series made up for the purpose, are in
 * docs/rightsizing-method.md; `stowage backtest` measures them on your own.
 */
export const defaultPolicy: RightsizingPolicy = {
  cpu: {
    target: {
      strategy: 'CostAware',
      exceeded: 28,
      base: 30,
      missing: 2,
      spansUp: 4,
      spansDown: 5,
      minGainUp: 0.3,
      minGainDown: 0.33,
    },
    bounds: { min: 1, max: 1000 * CORE },
    change: { minChange: 0.1, minAmount: 5, cooldownUpMillis: HOUR, cooldownDownMillis: 4 * HOUR, maxStepDown: 1 },
    limit: { policy: 'Keep' },
  },
  memory: {
    target: { strategy: 'Peak', lookBackMillis: 3 * DAY, minRoom: 0.1, maxRoom: 0.25 },
    bounds: { min: 10 * MIB, max: 16 * 1024 * 1024 * MIB },
    change: { minChange: 0.05, minAmount: MIB, cooldownUpMillis: 0, cooldownDownMillis: DAY, maxStepDown: 0.5 },
    limit: { policy: 'Keep' },
  },
  mayChangeLimits: false,
  memoryDecrease: 'WhenSafe',
  hpa: 'Skip',
  minHistoryMillis: DAY,
  minSamples: 0,
  staleAfterMillis: 6 * HOUR,
};
