/** Decisions about size: what an engine wants containers of one pod, or of a workload's template, to request. */
import type { Bytes, Millicores } from '../lib/units.ts';
import type { WorkloadRef } from '../model/cluster-view.ts';
import type { SizeChange } from '../model/pod-size.ts';
import type { Explanation, PodRef } from './decision.ts';

export type SizingEngine = 'rightsizing' | 'allocation';

/** Resize a running pod in place through `pods/resize`: one patch with all containers. */
export interface ResizeDecision {
  readonly kind: 'resize';
  readonly engine: SizingEngine;
  /** Undefined for a bare pod. */
  readonly workload: WorkloadRef | undefined;
  readonly workloadUid: string | undefined;
  readonly pod: PodRef;
  readonly changes: readonly SizeChange[];
  /** The decreases here fund increases elsewhere on the node and are exempt from dead-band and spacing (allocation). */
  readonly isFunding?: boolean;
  /** Takes back what has not been granted: back to the allocated size. */
  readonly isWithdrawal?: boolean;
  /** Puts back what a pod had: before Stowage touched it, or before a decrease that did harm. */
  readonly isRestore?: boolean;
  readonly why: Explanation;
}

/** Change the requests in a workload's pod template: one write for all containers, one rollout. */
export interface RetemplateDecision {
  readonly kind: 'retemplate';
  readonly engine: 'rightsizing';
  readonly workload: WorkloadRef;
  readonly workloadUid: string;
  readonly changes: readonly SizeChange[];
  /** Server-side apply as manager `optipod`; else a strategic merge patch. */
  readonly useServerSideApply: boolean;
  /** Server-side apply takes fields that other managers own. */
  readonly force: boolean;
  /** Puts back what the template had before a decrease that did harm. */
  readonly isRestore?: boolean;
  /** The rollout of that decrease is under way still. */
  readonly turnsBack?: boolean;
  readonly why: Explanation;
}

/**
 * Evict one pod, so that its replacement is born with the size in force: admission gives it that, and the template
 * stays as it is.
 */
export interface EvictToResizeDecision {
  readonly kind: 'evict-to-resize';
  readonly engine: 'rightsizing';
  readonly workload: WorkloadRef;
  readonly workloadUid: string;
  readonly pod: PodRef;
  /** What the replacement will have otherwise than the pod. */
  readonly changes: readonly SizeChange[];
  /** Replicas that are to stay ready on on-demand, where placement has a say in the workload; left out: none. */
  readonly onDemandFloor?: number;
  /** The pod still has what did harm. */
  readonly isRestore?: boolean;
  /** How much more than the pod its replacement requests in all; below 0: less. */
  readonly growth: { readonly cpuMillis: Millicores; readonly memoryBytes: Bytes };
  readonly why: Explanation;
}

export type SizeDecision = ResizeDecision | RetemplateDecision | EvictToResizeDecision;
