/**
 * What size guards look at: the decision, the records it is about, and the state of the operator. Everything is passed
 * in.
 */

import type { PodRef } from '../../decide/decision.ts';
import type {
  EvictToResizeDecision,
  ResizeDecision,
  RetemplateDecision,
  SizeDecision,
  SizingEngine,
} from '../../decide/size-decision.ts';
import type { DisruptionWindow } from '../../lib/schedule.ts';
import type { Bytes, EpochMillis, Millis, Percent } from '../../lib/units.ts';
import type { SizeChange } from '../../model/pod-size.ts';
import type { NodeRecord } from '../../model/records.ts';
import { restartedContainer } from '../../model/restart-on-resize.ts';
import type { ContainerSpecRecord, SizedWorkload } from '../../model/sizing-records.ts';
import type { SizedPod, SizingView } from '../../model/sizing-view.ts';
import type { InFlightEviction, Leadership, Objection } from '../context.ts';
import type { DisruptionState } from './disruption-state.ts';
import type { SizeHistory } from './size-history.ts';

/**
 * A resize that was asked for and has not been seen done, refused or given up. It counts from before the patch is sent,
 * as other decisions are made while the answer is waited for.
 */
export interface InFlightResize {
  readonly pod: PodRef;
  readonly engine: SizingEngine;
  readonly since: EpochMillis;
  /** The sizes asked for, whether or not the pod's spec shows them yet. */
  readonly changes: readonly SizeChange[];
}

/** Of the engine; the same for all its decisions. */
export interface SizeSettings {
  /** The engine is on. */
  readonly enabled: boolean;
  /** No write of any kind, by any engine. */
  readonly readOnly: boolean;
  /** OptiPod's `--dry-run`: recommendations are made and told, sizes are not changed. */
  readonly dryRun: boolean;
  /** After becoming leader or starting: until what a predecessor did must have become visible. */
  readonly warmUpMillis: Millis;
  /** Resizes under way in the whole cluster; at least 1. */
  readonly maxConcurrentResizes: number;
  /**
   * Changes begun in any minute, in the whole cluster; at least 1. A redeployed VPA evicted 3,000 pods in 20 min
   * (autoscaler#2180).
   */
  readonly maxChangesPerMinute: number;
  /** What a lowered memory limit must stay above: use and recent peak, plus this share. */
  readonly memoryMargin: Percent;
}

/** Of the policy (or allocation) that wants the change. */
export interface SizePolicy {
  /** Undefined: always open. */
  readonly window?: DisruptionWindow | undefined;
  /** Between two changes of one pod, or of one template. */
  readonly cooldownMillis: Millis;
  /** Containers may be restarted, and templates changed. */
  readonly allowRecreate: boolean;
}

/** Memory of a running container. Where both are undefined nothing is known, and a limit may not be lowered. */
export interface MemoryUse {
  readonly now: Bytes | undefined;
  /** The most in the recent past; at least `now`. */
  readonly peak: Bytes | undefined;
}

/** As with evictions: built anew for each decision, of one instant, and read by pure rules. */
export interface SizeGuardContext {
  readonly view: SizingView;
  readonly settings: SizeSettings;
  readonly policy: SizePolicy;
  readonly leadership: Leadership;
  readonly history: SizeHistory;
  /** Cluster-wide, both engines. */
  readonly resizes: readonly InFlightResize[];
  /** Cluster-wide, of every engine; rollouts that Stowage began among them. */
  readonly evictions: readonly InFlightEviction[];
  /** What disruptions of the workload draw on; left out by engines that disrupt nothing. */
  readonly disruption?: DisruptionState | undefined;
  /**
   * Of the pod's container, or of its hottest replica where usage is kept by workload. Undefined where nothing is
   * known, or not of this pod since the container started.
   */
  readonly memoryOf: (pod: PodRef, container: string) => MemoryUse | undefined;
  /** The allocation engine shares out the CPU of this pod. */
  readonly isAllocated: (pod: SizedPod) => boolean;
  /** `pods/resize` is served; undefined while it is not known. */
  readonly servesResize: boolean | undefined;
  readonly now: EpochMillis;
}

interface Subject<D extends SizeDecision> {
  readonly decision: D;
  /** With only what differs from the present; never empty. */
  readonly changes: readonly SizeChange[];
  /**
   * The containers as they are now, and as they would be: of the pod for a resize, of the template for `retemplate`.
   */
  readonly before: readonly ContainerSpecRecord[];
  readonly after: readonly ContainerSpecRecord[];
}

export interface ResizeSubject extends Subject<ResizeDecision> {
  readonly kind: 'resize';
  readonly pod: SizedPod;
  /** Undefined for a bare pod. */
  readonly workload: SizedWorkload | undefined;
  readonly node: NodeRecord | undefined;
}

/** A change of the pod template: every pod is replaced by a rollout of the workload's own controller. */
export interface RetemplateSubject extends Subject<RetemplateDecision> {
  readonly kind: 'retemplate';
  readonly workload: SizedWorkload;
}

/**
 * An eviction for the sake of size, as far as sizes go. What it does to the workload is asked of the guard of
 * evictions, so both guards must approve it.
 */
export interface EvictToResizeSubject extends Subject<EvictToResizeDecision> {
  readonly kind: 'evict-to-resize';
  readonly pod: SizedPod;
  readonly workload: SizedWorkload;
}

export type SizeSubject = ResizeSubject | RetemplateSubject | EvictToResizeSubject;

export interface SizeRule {
  /** Stable and unique, as tests, explanations and the journal name it. */
  readonly name: string;
  /** Why the rule exists and why it stands where it stands in the order. */
  readonly why: string;
  readonly check: (subject: SizeSubject, context: SizeGuardContext) => Objection;
}

/** A rule is made with what it is about: its check is never asked about anything else. */
function makerOf<S extends SizeSubject>(isAbout: (subject: SizeSubject) => subject is S) {
  return (name: string, why: string, check: (subject: S, context: SizeGuardContext) => Objection): SizeRule => ({
    name,
    why,
    check: (subject, context) => (isAbout(subject) ? check(subject, context) : undefined),
  });
}

/** The first container that the resize restarts. What was never granted restarts nothing when it is taken back. */
export function restartedBy({ decision, before, changes }: ResizeSubject): ReturnType<typeof restartedContainer> {
  return decision.isWithdrawal === true ? undefined : restartedContainer(before, changes);
}

/** Where what is decided on is. */
export function namespaceOf({ decision }: SizeSubject): string {
  return decision.kind === 'retemplate' ? decision.workload.namespace : decision.pod.namespace;
}

/** Stowage's own rollout of what did harm is turned back while it is under way: it would have no end by itself. */
export function turnsBack({ decision }: SizeSubject): boolean {
  return decision.kind === 'retemplate' && decision.isRestore === true && decision.turnsBack === true;
}

/** Whether a rollout of the workload has a place of the budget; one that is stuck for long has none any more. */
export function hasPlace(
  workloadUid: string | undefined,
  evictions: readonly Pick<InFlightEviction, 'workloadUid' | 'isRollout'>[],
): boolean {
  return evictions.some((each) => each.isRollout === true && each.workloadUid === workloadUid);
}

const isResize = (subject: SizeSubject): subject is ResizeSubject => subject.kind === 'resize';
const isRestart = (subject: SizeSubject): subject is ResizeSubject =>
  isResize(subject) && restartedBy(subject) !== undefined;

/** About every change of size. */
export function sizeRule(name: string, why: string, check: SizeRule['check']): SizeRule {
  return { name, why, check };
}

/** Only about resizes of running pods. */
export const resizeRule = makerOf(isResize);
/** About what is done to one pod for its size: resizes, and evictions to resize. */
export const podRule = makerOf(
  (subject): subject is ResizeSubject | EvictToResizeSubject => subject.kind !== 'retemplate',
);
/** Only about those that restart a container. */
export const restartRule = makerOf(isRestart);
/** About whatever gives a workload new pods: changes of templates, and evictions to resize. */
export const newPodsRule = makerOf(
  (subject): subject is RetemplateSubject | EvictToResizeSubject => subject.kind !== 'resize',
);
/** About what disrupts and is not an eviction, which has a guard of its own: rollouts, and restarts in place. */
export const disruptiveRule = makerOf(
  (subject): subject is RetemplateSubject | ResizeSubject => subject.kind === 'retemplate' || isRestart(subject),
);
