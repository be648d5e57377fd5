/**
 * How the allocation engine behaves: every constant of demand, bargaining and writing, with defaults from measurements.
 */
import type { Millicores, Millis } from '../../lib/units.ts';
import type { LevelRules } from './usage-level.ts';

/**
 * `requests+ceilings`: requests steer, limits only where needed. `limits`: as MBCAS, limit = share. `observe`: no
 * writes.
 */
export type ApplyMode = 'requests+ceilings' | 'limits' | 'observe';
/** Who gets a limit in `requests+ceilings`: who takes everything, all, who has one already, nobody. */
export type CeilingMode = 'greedy' | 'all' | 'existing' | 'none';

export interface DemandRules {
  /** want = usageFactor x usage + headroom. */
  readonly usageFactor: number;
  readonly headroom: Millicores;
  /** Throttled periods by all periods above which the pod is short of CPU. */
  readonly throttledRatio: number;
  /** Pressure (PSI some, 0..1) above which it is, for pods that are not throttled... */
  readonly pressure: number;
  /** ...and use at least this share of their request: beside a hog every pod shows pressure. */
  readonly pressureNeedsUsage: number;
  /** Usage by limit from which usage says nothing about demand any more. */
  readonly saturation: number;
  /** A want of the past counts half after this time. */
  readonly peakHalfLifeMillis: Millis;
  /** A want falls by at most this share a tick, */
  readonly downStep: number;
  /** after this many ticks without shortage, */
  readonly calmTicks: number;
  /** and this long after it last rose. */
  readonly calmMillis: Millis;
  /**
   * What is noise, and what a change of load; with `apply: limits`, where what one pod does not use is lost to all,
   * judged sooner.
   */
  readonly level: LevelRules;
  readonly levelOfLimits: LevelRules;
}

export interface GreedyRules {
  /** Usage by share from which a pod is at its share. */
  readonly atShare: number;
  /**
   * So many ticks in a row at its share make the pod of the lowest weight greedy; three times as many one of equal
   * weight.
   */
  readonly ticks: number;
  /** Greedy is only who waits for more (PSI some above this), or uses more than this many times its share. */
  readonly pressure: number;
  readonly beyondShare: number;
  /** Usage by ceiling below which, for `releaseTicks` in a row, it is greedy no more. */
  readonly releaseBelow: number;
  readonly releaseTicks: number;
}

export interface WriteRules {
  /** Changes smaller than both are not written: millicores, and a share of the current value. */
  readonly minChange: Millicores;
  readonly minShare: number;
  /** The share for decreases that fund nothing. */
  readonly minShareDown: number;
  /** Least time between two writes of one pod, counted from tick to tick: raises, and decreases that fund nothing. */
  readonly spacingUpMillis: Millis;
  readonly spacingDownMillis: Millis;
  /** Writes of one pod within a minute, whatever for. */
  readonly perMinute: number;
  /** A raise below this share of what was asked is not written, unless the pod is short of CPU. */
  readonly minGranted: number;
  /** A pod that uses less than this share of what it has is not raised by choice. */
  readonly raiseAbove: number;
  /** A raise of a greedy pod by less than this share is not worth it: it would take any. */
  readonly minShareGreedy: number;
}

export interface WeightRules {
  /**
   * `equal`: every pod starts at 1, because a wrong request must not buy weight. `request`: by cores requested, as
   * MBCAS.
   */
  readonly base: 'equal' | 'request';
  readonly priorityCurve: 'log' | 'anchors' | 'legacy' | 'none';
  /** Namespaces whose annotations are believed: see `tenantAnnotations`, and `mbcas.io/priority-multiplier`. */
  readonly trustedNamespaces: readonly string[];
  readonly topologySpread: boolean;
  /** No replica gets more than half again the median of its workload. */
  readonly spreadCeiling: boolean;
  readonly nodeAffinity: boolean;
}

export interface AllocationRules {
  readonly apply: ApplyMode;
  readonly ceilings: CeilingMode;
  readonly disagreement: 'claim' | 'zero';
  readonly overload: 'weights' | 'tiers';
  readonly quantum: 1 | 10;
  /**
   * Of what is free beyond the requests of users, the share that is written as requests too. 0: a node never looks
   * fuller to the scheduler than it would without us, and new pods find the room they would have found. Not with
   * `apply: limits`.
   */
  readonly surplusShare: number;
  /** Share of allocatable that is never given away; measured system use beyond what is reserved takes its place. */
  readonly margin: number;
  /**
   * Without advice or annotation a pod's claim is this share of its original request, at least `baseline`, never more.
   */
  readonly claimShare: number;
  readonly baseline: Millicores;
  /** A share falls, and rises, by at most this share of itself a tick. */
  readonly stepDown: number;
  readonly stepUp: number;
  /** Ceiling by share of greedy pods, and of others with `ceilings: all`. */
  readonly greedyCeiling: number;
  readonly looseCeiling: number;
  /** Request by limit with `apply: limits`. */
  readonly requestRatio: number;
  /** A limit the user set is the most a pod can have (`keep`), or gives way (`lift`). */
  readonly userLimits: 'keep' | 'lift';
  readonly startupGraceMillis: Millis;
  /**
   * What `mbcas.io/min-cpu` and `mbcas.io/weight` can do. `bounded`: outside of trusted namespaces nothing at the cost of
   * others, so a claim is at most the first request, and a weight at most 1.
   */
  readonly tenantAnnotations: 'any' | 'bounded';
  readonly managementMode: 'optIn' | 'optOut';
  readonly excludedNamespaces: readonly string[];
  readonly demand: DemandRules;
  readonly greedy: GreedyRules;
  readonly write: WriteRules;
  readonly weight: WeightRules;
}

export const defaultAllocationRules: AllocationRules = {
  apply: 'requests+ceilings',
  ceilings: 'greedy',
  disagreement: 'claim',
  overload: 'weights',
  quantum: 1,
  surplusShare: 0,
  margin: 0.05,
  claimShare: 1 / 3,
  baseline: 100,
  stepDown: 0.5,
  stepUp: Number.POSITIVE_INFINITY,
  greedyCeiling: 1.1,
  looseCeiling: 2,
  requestRatio: 0.9,
  userLimits: 'keep',
  startupGraceMillis: 45_000,
  tenantAnnotations: 'any',
  managementMode: 'optIn',
  excludedNamespaces: ['kube-system', 'kube-public', 'kube-node-lease', 'mbcas-system'],
  demand: {
    usageFactor: 1.5,
    headroom: 50,
    throttledRatio: 0.1,
    pressure: 0.15,
    pressureNeedsUsage: 0.7,
    saturation: 0.9,
    peakHalfLifeMillis: 600_000,
    downStep: 0.15,
    calmTicks: 3,
    calmMillis: 30_000,
    level: { surprise: 5, afterJump: 2, drift: 10, memoryTicks: 60, knownAfterTicks: 5, low: -1, middle: 1, high: 5 },
    levelOfLimits: {
      surprise: 4,
      afterJump: 1,
      drift: 5,
      memoryTicks: 30,
      knownAfterTicks: 5,
      low: -1,
      // A limit within the noise throttles now and then, and is raised again, at the cost of others, for ever.
      middle: 2.5,
      high: 2.5,
    },
  },
  greedy: { atShare: 0.9, ticks: 5, pressure: 0.15, beyondShare: 1.2, releaseBelow: 0.7, releaseTicks: 15 },
  write: {
    minChange: 10,
    minShare: 0.05,
    minShareDown: 0.1,
    spacingUpMillis: 5000,
    spacingDownMillis: 10_000,
    perMinute: 6,
    minGranted: 0.5,
    raiseAbove: 0.9,
    minShareGreedy: 0.25,
  },
  weight: {
    base: 'equal',
    priorityCurve: 'log',
    trustedNamespaces: [],
    topologySpread: false,
    spreadCeiling: false,
    nodeAffinity: false,
  },
};
