/** The bargaining problem of one node and its answer: the types that solver, plan, agent and reports share. */
import type { Millicores } from '../../lib/units.ts';

/** What one pod brings to the table. */
export interface Bid {
  /** Unique in the problem; the last tie-break, so that equal pods always get equal answers. */
  readonly uid: string;
  /** Bargaining power, >= 0. Pods of weight 0 share what the others leave. */
  readonly weight: number;
  /** The claim: served first, and the disagreement point unless said otherwise. Whole millicores. */
  readonly min: Millicores;
  /** The most the pod can use; Infinity: anything. Below `min` it counts as `min`. */
  readonly max: Millicores;
  /** What it keeps in overload, too, as far as its claim reaches: it cannot be lowered. Left out: the hard floor. */
  readonly floor?: Millicores;
  /** What the pod has if nobody agrees, at most `min`; read only with `disagreement: own`. */
  readonly disagreement?: Millicores;
  /** Higher tiers are served first when claims exceed capacity and `overload` is `tiers`. */
  readonly tier?: number;
}

/** An upper bound on what some pods get together: a namespace's quota on this node, a coalition. */
export interface GroupCap {
  readonly id: string;
  readonly cap: Millicores;
  /** Uids. Unknown ones are ignored. Groups that nest or are disjoint are solved exactly, others feasibly. */
  readonly members: readonly string[];
}

/** Whole millicores in, whole millicores out: doubles are exact for them. */
export interface Problem {
  readonly capacity: Millicores;
  readonly bids: readonly Bid[];
  readonly groups?: readonly GroupCap[];
  /** Shares are multiples of it: 1, or 10 under the systemd cgroup driver, which rounds quotas up to 10m. */
  readonly quantum?: 1 | 10;
  /** `claim`: claims first, the surplus by weight. `zero`: totals by weight, within bounds. */
  readonly disagreement?: 'claim' | 'zero' | 'own';
  readonly overload?: 'weights' | 'tiers';
  /** Kept by every pod even in overload, as far as its claim reaches; the kernel's quota minimum by default. */
  readonly hardFloor?: Millicores;
}

/** `overloaded`: claims exceed capacity. `congested`: wants do. */
export type Mode = 'uncongested' | 'congested' | 'overloaded';

export interface Solution {
  /**
   * In the order of the bids; whole multiples of the quantum; the sum never exceeds capacity unless `overcommitted`.
   */
  readonly shares: readonly Millicores[];
  /** The exact optimum before rounding. */
  readonly exact: readonly number[];
  /**
   * The multiplier of the capacity constraint: utility per millicore more. 0: capacity binds nobody; Infinity: no
   * surplus.
   */
  readonly shadowPrice: number;
  readonly mode: Mode;
  /** Even the floors exceed capacity: they were given, and nothing can be taken any more. */
  readonly overcommitted: boolean;
  /** Uids whose `max` was below `min`. */
  readonly conflicts: readonly string[];
}

/** The smallest quota the kernel takes is 1 ms in a period of 100 ms. */
export const kernelFloor: Millicores = 10;
