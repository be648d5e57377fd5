/** Operator-wide settings of the placement engine, already validated; `wire` fills them from the config file. */
import type { LabelSelector } from '../api/core.ts';
import type { Millis, Percent } from '../lib/units.ts';
import type { NodeSelectorTerm, Toleration } from './records.ts';

/**
 * How a side is said in a pod: one equality as a nodeSelector entry (what Spotalis writes), or required node affinity
 * where no single equality says it. The terms are ORed.
 */
export type SidePin =
  | { readonly kind: 'nodeSelector'; readonly key: string; readonly value: string }
  | { readonly kind: 'affinity'; readonly terms: readonly NodeSelectorTerm[] };

/** What tells nodes of the two sides apart, and how pods are sent to each. */
export interface NodeClassSettings {
  /** ORed selectors; checked before `onDemand`. */
  readonly spot: readonly LabelSelector[];
  readonly onDemand: readonly LabelSelector[];
  /** Profiles of clouds that label only spot nodes: an initialised node matching neither list is on-demand. */
  readonly absenceMeansOnDemand: boolean;
  readonly pins: { readonly spot: SidePin; readonly onDemand: SidePin };
  /** Tolerations a pod needs to run on the spot nodes of the chosen profiles. */
  readonly spotTolerations: readonly Toleration[];
  /** Taint keys that mark a node as leaving: it is no capacity, and its pods are not ours to move. */
  readonly leavingTaintKeys: readonly string[];
  /** Sides whose nodes an autoscaler creates on demand: no free room is needed to prove a move. */
  readonly provisionable: { readonly spot: boolean; readonly onDemand: boolean };
}

/** What happens while spot has no room. */
export interface FallbackSettings {
  /** How long a pod may wait for spot before it is recreated on on-demand. */
  readonly afterMillis: Millis;
  /**
   * Pods of a workload that return to spot in one disruption window, or in an hour where it is always open; at least 1.
   */
  readonly returnPerWindow: number;
  /** Recreated pods in the whole cluster that on-demand has not taken yet; at least 1. */
  readonly maxConcurrent: number;
  /** Largest part of a workload's spot replicas that on-demand covers at one time, rounded up. */
  readonly maxPercent: Percent;
}

export interface PlacementSettings {
  /** The engine is on; left out means it is. */
  readonly enabled?: boolean;
  /** Nothing is written and no pod steered; decisions are made and told. */
  readonly readOnly: boolean;
  /** New pods are meant to pass this operator's webhook, so that moved ones come back on the side meant; left out means they are. */
  readonly steersNewPods?: boolean;
  /** See `SlotRule` in decide/placement/slots.ts. */
  readonly rounding: 'ceil' | 'floor';
  readonly basis: 'total' | 'aboveBase';
  /** What may be written into pods besides nodeSelector and stamps. */
  readonly mutations: { readonly tolerations: boolean; readonly affinity: boolean };
  /** The only replica of a workload may be moved. */
  readonly allowSingleReplica: boolean;
  /** Evictions in flight across the cluster, at most; at least 1. */
  readonly maxConcurrentEvictions: number;
  /** Least time between two disruptions of one workload. */
  readonly cooldownMillis: Millis;
  /** Retry interval while a window or an annotation is invalid. */
  readonly disruptionRetryMillis: Millis;
  /** How long a reservation without a visible pod is kept. */
  readonly claimTtlMillis: Millis;
  /**
   * Patience with what does not move by itself: a rollout reported stuck for this long no longer blocks repair, and a
   * pod unready or terminating for this long no longer counts as being in transition (it still counts as unavailable).
   */
  readonly stuckRolloutMillis: Millis;
  /**
   * Pause before a side is tried again for a workload after a move to it found no place: doubles from `initial` up to
   * `max`.
   */
  readonly moveBackoffMillis: { readonly initial: Millis; readonly max: Millis };
  readonly fallback: FallbackSettings;
  /** Largest share of one workload in one spot pool where there is a choice, in percent; 100 is no limit. */
  readonly maxPerPool: Percent;
  /** A spot pool that lost this share of its nodes within an hour is avoided by new pods; 100 never is. */
  readonly avoidPoolsLosing: Percent;
  /** For workloads that say nothing themselves, nor does their namespace; raw texts as in annotations. */
  readonly defaults: { readonly spotPercentage: Percent; readonly minOnDemand: string };
  /** Global disruption window, raw texts as in the config file; undefined means always open. */
  readonly window: { readonly schedule: string; readonly duration: string } | undefined;
  /** Namespaces besides which none is managed, whatever its labels; undefined: all may be. */
  readonly namespaceSelector: LabelSelector | undefined;
  readonly nodeClasses: NodeClassSettings;
}
