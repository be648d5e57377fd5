/**
 * What guards look at: the decision, what it is about, and the state of the operator. Everything is passed in; a rule
 * reads no clock.
 */
import type { Decision, EvictDecision, FallbackDecision } from '../decide/decision.ts';
import type { PlacementPolicy } from '../decide/placement/policy.ts';
import type { SpotOutlook } from '../decide/placement/spot-outlook.ts';
import type { EvictToResizeDecision } from '../decide/size-decision.ts';
import type { ReasonNameOf } from '../lib/reasons.ts';
import type { DisruptionWindow } from '../lib/schedule.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import type { ClusterView } from '../model/cluster-view.ts';
import type { PlacementSettings } from '../model/placement-settings.ts';
import type { PodRecord, WorkloadRecord } from '../model/records.ts';
import type { Sides } from '../model/sides.ts';
import type { DisruptionHistory } from './history.ts';

/** A disruption under way, of whichever engine: each takes one place of the cluster-wide budget. */
export interface InFlightEviction {
  /** Whose turn it is: no second disruption of the same workload begins meanwhile. */
  readonly workloadUid: string;
  /** The pod that was asked to go and has not been seen gone; of a rollout the uid of the workload. */
  readonly podUid: string;
  /** When it was asked for, before the answer: what is not known to have failed counts. */
  readonly since: EpochMillis;
  /** How long the pod may take to end, or the container to be restarted, before it counts as stuck; default 0. */
  readonly graceMillis?: Millis | undefined;
  /** All pods of the workload are being replaced, because Stowage changed its template. */
  readonly isRollout?: boolean;
  /** Of a rollout: when it was last seen to go on; left out, at its beginning. */
  readonly wentOnAt?: EpochMillis | undefined;
  /** Of a rollout: the most pods made since its beginning that were seen ready at once; left out, none. */
  readonly readyPods?: number;
}

/** What the guard is asked about: whatever ends a pod, and corrections of its stamps. */
export type GuardedDecision = Decision | EvictToResizeDecision;

export interface Leadership {
  /** This replica holds the Lease. */
  readonly leader: boolean;
  /** Since when; of no meaning where `leader` is false. */
  readonly sinceMillis: EpochMillis;
}

/**
 * Built anew for each decision, so that a verdict rests on one instant. Rules are pure functions of it: asked twice
 * with the same context they answer the same.
 */
export interface GuardContext {
  readonly view: ClusterView;
  readonly sides: Sides;
  /** Of placement; where it is off, rightsizing still takes pacing and patience from here. */
  readonly settings: PlacementSettings;
  /** Of the workload that the decision is about. */
  readonly policy: PlacementPolicy;
  readonly history: DisruptionHistory;
  /** Cluster-wide, all engines; the length is what `maxConcurrentEvictions` is compared with. */
  readonly inFlight: readonly InFlightEviction[];
  readonly leadership: Leadership;
  /** What is known of spot; left out, nothing is known against it. */
  readonly spot?: SpotOutlook | undefined;
  /** Pods in the whole cluster that cover for spot and have no node yet; default none. */
  readonly waitingCovers?: number | undefined;
  /** When workloads may be disrupted that placement does not manage; left out, always. */
  readonly window?: DisruptionWindow | undefined;
  /** A resize of the pod was asked for a moment ago, whether or not the view shows it; left out, none is. */
  readonly isResizing?: ((podUid: string) => boolean) | undefined;
  readonly now: EpochMillis;
}

/**
 * The decision with the present records it is about: a decision may be older than the view, and rules look at what is,
 * not at what was decided on.
 */
export interface Subject<D extends GuardedDecision = GuardedDecision> {
  readonly decision: D;
  readonly workload: WorkloadRecord;
  readonly pod: PodRecord;
  /** All pods of the workload, every phase. */
  readonly pods: readonly PodRecord[];
}

/** Why a decision is not carried out now. */
export interface Block {
  /** Name of the rule that says so. */
  readonly rule: string;
  readonly reason: ReasonNameOf<'block'>;
  /** One sentence for people. */
  readonly message: string;
  /** What a person can do about it. */
  readonly advice: string;
  /**
   * How long from now until it is worth asking again: exact for windows, cooldowns and back-off; undefined when only a
   * change in the cluster can help, which wakes the workload by itself.
   */
  readonly retryAfterMillis: Millis | undefined;
}

/** What a rule answers: nothing, or why not. */
export type Objection = Omit<Block, 'rule'> | undefined;

export interface Rule {
  /** Stable and unique, as tests, explanations and the journal name it. */
  readonly name: string;
  /** Why the rule exists and why it stands where it stands in the order. */
  readonly why: string;
  /**
   * `every` decision, or every one of `placement`; only moves (`evict`), only fallbacks, only evictions to resize
   * (`size`); `eviction`: those of pods that serve, moves and to resize; or `end`: whatever ends a pod.
   */
  readonly appliesTo: 'every' | 'placement' | 'evict' | 'fallback' | 'size' | 'eviction' | 'end';
  /** Pure. Never throws: what cannot be read is an objection of its own. */
  readonly check: (subject: Subject, context: GuardContext) => Objection;
}

/** A rule's check for moves. */
export type EvictCheck = (subject: Subject<EvictDecision>, context: GuardContext) => Objection;

/** Whether a running pod is to move to the other side. */
export function isEviction(subject: Subject): subject is Subject<EvictDecision> {
  return subject.decision.kind === 'evict';
}

/** A rule's check for decisions that recreate a pod on on-demand. */
export type FallbackCheck = (subject: Subject<FallbackDecision>, context: GuardContext) => Objection;

/** Whether a pod that waits for spot is to be made anew on on-demand. */
export function isFallback(subject: Subject): subject is Subject<FallbackDecision> {
  return subject.decision.kind === 'fallback';
}

/** A rule's check for evictions that give the replacement another size. */
export type SizeEvictionCheck = (subject: Subject<EvictToResizeDecision>, context: GuardContext) => Objection;

/** Whether a pod is to be replaced by one of another size. */
export function isSizeEviction(subject: Subject): subject is Subject<EvictToResizeDecision> {
  return subject.decision.kind === 'evict-to-resize';
}

/** A rule's check for evictions of pods that serve, whichever engine wants them. */
export type DisruptionCheck = (
  subject: Subject<EvictDecision | EvictToResizeDecision>,
  context: GuardContext,
) => Objection;

/** A rule's check for every decision that ends a pod. */
export type EndCheck = (
  subject: Subject<EvictDecision | FallbackDecision | EvictToResizeDecision>,
  context: GuardContext,
) => Objection;
