/** Decisions: what an engine wants done, each with the numbers that led to it. Plain data; nothing here acts. */
import type { EpochMillis } from '../lib/units.ts';
import type { WorkloadRef } from '../model/cluster-view.ts';
import type { Side } from '../model/records.ts';

export interface PodRef {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Move one replica to the other side by evicting it; its replacement is steered at admission. */
export interface EvictDecision {
  readonly kind: 'evict';
  readonly engine: 'placement';
  readonly workload: WorkloadRef;
  readonly workloadUid: string;
  readonly pod: PodRef;
  readonly from: Side | 'unknown';
  readonly to: Side;
  /** Replicas that must stay on on-demand, whatever happens. */
  readonly onDemandFloor: number;
  /** The pod is temporary cover, and goes back to spot. */
  readonly isReturn?: boolean;
  /** Of a pod without a node, which serves nobody: one that was bound meanwhile has another, and is left alone. */
  readonly resourceVersion?: string;
  readonly why: Explanation;
}

/**
 * Recreate on on-demand a pod that spot has had no room for. It never ran, so nothing is disrupted; its replacement is
 * temporary cover for its slot.
 */
export interface FallbackDecision {
  readonly kind: 'fallback';
  readonly engine: 'placement';
  readonly workload: WorkloadRef;
  readonly workloadUid: string;
  readonly pod: PodRef;
  /** A pod that was bound meanwhile has another, and is left alone. */
  readonly resourceVersion: string;
  readonly to: 'on-demand';
  /** The place it holds among the replicas, which its replacement gets. */
  readonly slot: number;
  /** When the pod began to wait. */
  readonly waitingSince: EpochMillis;
  /** Pods on on-demand beyond the target with this one, and how many may be. */
  readonly excess: number;
  readonly maxExcess: number;
  readonly why: Explanation;
}

/** Correct the stamps of a pod whose slot or side annotation disagrees with where it runs. Disrupts nothing. */
export interface RestampDecision {
  readonly kind: 'restamp';
  readonly engine: 'placement';
  readonly workload: WorkloadRef;
  readonly workloadUid: string;
  readonly pod: PodRef;
  readonly resourceVersion: string;
  readonly slot: number;
  readonly capacity: Side;
  /** New deletion cost, or undefined when the user's own value is kept. */
  readonly deletionCost: number | undefined;
  readonly why: Explanation;
}

export type Decision = EvictDecision | FallbackDecision | RestampDecision;

/** Why a decision was made: one sentence for people and the numbers behind it for machines. */
export interface Explanation {
  readonly summary: string;
  readonly numbers: Readonly<Record<string, number | string | boolean>>;
}
