/** Operator-wide settings of the placement engine, already validated; `wire` fills them from the config file. */
import type { LabelSelector } from '../api/core.ts';
import type { Millis, Percent } from '../lib/units.ts';
import type { Toleration } from './records.ts';

export interface NodeClassSettings {
  /** ORed selectors; checked before `onDemand`. */
  readonly spot: readonly LabelSelector[];
  readonly onDemand: readonly LabelSelector[];
  /** Profiles of clouds that label only spot nodes: an initialised node matching neither list is on-demand. */
  readonly absenceMeansOnDemand: boolean;
  /** Tolerations a pod needs to run on the spot nodes of the chosen profiles. */
  readonly spotTolerations: readonly Toleration[];
  /** Taint keys that mark a node as leaving: it is no capacity, and its pods are not ours to move. */
  readonly leavingTaintKeys: readonly string[];
  /** Sides whose nodes an autoscaler creates on demand: no free room is needed to prove a move. */
  readonly provisionable: { readonly spot: boolean; readonly onDemand: boolean };
}

export interface PlacementSettings {
  readonly readOnly: boolean;
  readonly rounding: 'ceil' | 'floor';
  readonly basis: 'total' | 'aboveBase';
  readonly mutations: { readonly tolerations: boolean; readonly affinity: boolean };
  readonly allowSingleReplica: boolean;
  /** Evictions in flight across the cluster, at most; at least 1. */
  readonly maxConcurrentEvictions: number;
  /** Least time between two disruptions of one workload. */
  readonly cooldownMillis: Millis;
  /** Retry interval while a window or an annotation is invalid. */
  readonly disruptionRetryMillis: Millis;
  /** How long a reservation without a visible pod is kept. */
  readonly claimTtlMillis: Millis;
  /** A rollout without progress for this long no longer blocks repair. */
  readonly stuckRolloutMillis: Millis;
  /** How long a pod may stay unready before other moves of its workload stop waiting for it is never; this is the pause after a move that did not land. */
  readonly moveBackoffMillis: { readonly initial: Millis; readonly max: Millis };
  readonly defaults: { readonly spotPercentage: Percent; readonly minOnDemand: string };
  /** Global disruption window, raw texts as in the config file; undefined means always open. */
  readonly window: { readonly schedule: string; readonly duration: string } | undefined;
  readonly namespaceSelector: LabelSelector | undefined;
  readonly nodeClasses: NodeClassSettings;
}
