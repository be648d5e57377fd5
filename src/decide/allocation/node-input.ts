/**
 * What the plan of a node is made from, and what it says: plain data in, plain data out, the memory of the loop
 * included.
 */
import type { EpochMillis, Millicores } from '../../lib/units.ts';
import type { AllocationPod, CpuSize } from './allocation-pod.ts';
import type { Bound } from './bounds.ts';
import type { Clamp } from './clamp.ts';
import type { Demand, DemandState, Measurement } from './demand.ts';
import type { ExclusionReason, PodHistory } from './eligibility.ts';
import type { Fairness } from './fairness.ts';
import type { MetricFact } from './integrations/custom-metrics.ts';
import type { NodeCondition } from './integrations/node-conditions.ts';
import type { ProbeMemory } from './integrations/probes.ts';
import type { NodeQuota } from './integrations/resource-quota.ts';
import type { PodMarks } from './marks.ts';
import type { Mode } from './problem.ts';
import type { AllocationRules } from './rules.ts';

/** What the operator's view of the cluster adds to a pod (see clusterHints). All of it survives JSON. */
export interface PodHints {
  readonly bounds: readonly Bound[];
  /** Factors of the weight. */
  readonly spread: number;
  readonly affinity: number;
  /** Only the limit may change. */
  readonly isRequestFrozen: boolean;
  readonly limitMin?: Millicores;
  /** A step of at most this share. */
  readonly step?: number;
  readonly bandFactor: number;
}

/** What holds for a pod about which the cluster says nothing. */
export const unhindered: PodHints = { bounds: [], spread: 1, affinity: 1, isRequestFrozen: false, bandFactor: 1 };

/** One pod of the node at one tick. */
export interface NodePod {
  readonly pod: AllocationPod;
  /** Of the pod, where they have been read before; left out: they are read at each plan. */
  readonly marks?: PodMarks;
  /** Undefined: not measured this tick. The pod keeps what it has. */
  readonly measured: Measurement | undefined;
  /** Somebody has planned for it; when it is seen first, an agent that is gone. Left out: nobody. */
  readonly isPlanned?: boolean;
  /** What rightsizing advises to request: the claim. */
  readonly advice?: Millicores | undefined;
  /** What the pod had before Stowage touched it; undefined: what it has now. */
  readonly original?: CpuSize | undefined;
  readonly metric?: MetricFact | undefined;
  /**
   * Left out: nobody asked, the operator checks again before it writes. `unknown`: asked and not known, so nothing
   * moves.
   */
  readonly hints?: PodHints | 'unknown' | undefined;
  readonly history?: PodHistory | undefined;
}

/** A pod that takes no part. */
export interface Absent {
  readonly input: NodePod;
  readonly reason: ExclusionReason;
}

export interface NodeFacts {
  readonly name: string;
  readonly allocatable: Millicores;
  /** Capacity less allocatable. */
  readonly reserved: Millicores;
  /** Measured CPU of everything on the node outside pods; undefined: not measured. */
  readonly systemUse: Millicores | undefined;
  readonly conditions: readonly NodeCondition[] | undefined;
}

export interface NodeInput {
  readonly node: NodeFacts;
  /** Every pod of the node that has not finished, managed or not: what others request is not there to share. */
  readonly pods: readonly NodePod[];
  /** By namespace; left out: no quota is known to limit it, the operator checks again. */
  readonly quotas?: ReadonlyMap<string, NodeQuota>;
  readonly memory: NodeMemory;
  readonly rules: AllocationRules;
  readonly now: EpochMillis;
}

/** What is carried from tick to tick; lost with the agent, whose successor begins from what pods have. */
export interface PodMemory {
  /** An agent before this one planned for it. */
  readonly isInherited?: boolean;
  readonly demand: DemandState | undefined;
  readonly probes: ProbeMemory;
  readonly greed: GreedMemory;
  /** Ticks at which a change was written, within the last minute. */
  readonly writes: readonly EpochMillis[];
}

export interface GreedMemory {
  readonly ticksAtShare: number;
  readonly isGreedy: boolean;
  readonly calmTicks: number;
}

/** By pod uid; pods that are gone are forgotten. */
export type NodeMemory = ReadonlyMap<string, PodMemory>;

/** `Lift`: no ceiling is wanted, and one that is there goes up to `limit`. `Keep`: limits stay. */
export type LimitPolicy = 'Apply' | 'Lift' | 'Keep';

export interface PodTarget {
  readonly request: Millicores;
  /** Undefined only with `Keep` or `Lift` where there is no limit. */
  readonly limit: Millicores | undefined;
  readonly limitPolicy: LimitPolicy;
}

/** Why a change that was computed is not written. */
export type HoldReason =
  | 'Settled'
  | 'DeadBand'
  | 'Spacing'
  | 'RateLimit'
  | 'PartialRaise'
  | 'HasRoom'
  | 'NotNeeded'
  | 'Observe'
  | 'Frozen'
  | 'Unmeasured'
  | 'Unfunded';

export interface PodPlan {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly current: CpuSize;
  /** What bargaining gives, whether written or not. */
  readonly share: Millicores;
  readonly target: PodTarget;
  /** What the pod should have had by its want and its claim, and its power. */
  readonly claim: Millicores;
  readonly want: Millicores;
  readonly weight: number;
  readonly demand: Demand | undefined;
  readonly isGreedy: boolean;
  readonly isWritten: boolean;
  readonly held: HoldReason | undefined;
  /** Exempt from dead-band and spacing: it pays for a raise, or it relieves a shortage. */
  readonly isFunding: boolean;
  readonly isForced: boolean;
  readonly coalition: string | undefined;
  /** What the pod is owed by its coalition (positive) or owes, in millicores. */
  readonly credit: number | undefined;
  readonly clamps: readonly Clamp[];
}

export interface NodePlan {
  readonly node: string;
  /** What managed pods can use together. */
  readonly capacity: Millicores;
  /** What their requests add up to, at most: the same, or what users asked for. */
  readonly steadySum: Millicores;
  readonly mode: Mode;
  /** Utility per millicore. */
  readonly shadowPrice: number;
  readonly isOvercommitted: boolean;
  /** In the order of uids. */
  readonly pods: readonly PodPlan[];
  /** Those to write, decreases first. */
  readonly writes: readonly PodPlan[];
  readonly unmanaged: readonly { readonly uid: string; readonly reason: ExclusionReason }[];
  readonly fairness: Fairness;
  readonly clamps: readonly Clamp[];
  readonly memory: NodeMemory;
}
