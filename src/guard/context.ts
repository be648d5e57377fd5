/**
 * What guards look at: the decision, what it is about, and the state of the operator. Everything is passed in; a rule
 * reads no clock.
 */
import type { Decision } from '../decide/decision.ts';
import type { DisruptionTimes, PlacementPolicy } from '../decide/placement/policy.ts';
import type { SpotOutlook } from '../decide/placement/spot-outlook.ts';
import type { EvictToResizeDecision } from '../decide/size-decision.ts';
import type { ReasonNameOf } from '../lib/reasons.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import type { ClusterView, WorkloadRef } from '../model/cluster-view.ts';
import type { PlacementSettings } from '../model/placement-settings.ts';
import type { ComputeResources, PodRecord, PodTemplate, Side, WorkloadRecord } from '../model/records.ts';
import type { Sides } from '../model/sides.ts';
import type { DisruptionHistory } from './history.ts';

/** A disruption under way, of whichever engine: each takes one place of the cluster-wide budget. */
export type InFlightEviction = PodUnderWay | RolloutUnderWay;

interface DisruptionUnderWay {
  /** Whose turn it is: no second disruption of the same workload begins meanwhile. */
  readonly workloadUid: string;
  /** The pod; of a rollout the uid of the workload. One entry each. */
  readonly podUid: string;
  /** When it was asked for, before the answer: what is not known to have failed counts. */
  readonly since: EpochMillis;
}

/** A pod that was asked to go, or one of its containers to restart, until it is seen gone, or well again. */
interface PodUnderWay extends DisruptionUnderWay {
  readonly isRollout?: false;
  /** How long the pod may take to end, or the container to be restarted, before it counts as stuck; default 0. */
  readonly graceMillis?: Millis | undefined;
}

/** All pods of the workload are being replaced, because Stowage changed its template. */
export interface RolloutUnderWay extends DisruptionUnderWay {
  readonly isRollout: true;
  /** When it was last seen to go on; left out, at its beginning. */
  readonly wentOnAt?: EpochMillis | undefined;
  /** The most pods made since its beginning that were seen ready at once; left out, none. */
  readonly readyPods?: number;
}

/** A pod that will be made in the place of an evicted one, or was, and has no node yet: free room is as good as taken. */
export interface AwaitedReplacement {
  /** Where it is sent; undefined: wherever it fits. */
  readonly side: Side | undefined;
  readonly template: PodTemplate;
  /** Where the evicted pod still is, and what it has there until it is gone; left out: it is gone, or was nowhere. */
  readonly held?: { readonly node: string; readonly requests: ComputeResources } | undefined;
}

/** An evicted pod is gone, and none has been made in its place. */
export interface MissingReplacement {
  readonly workload: WorkloadRef;
  /** Name of the pod that was evicted. */
  readonly pod: string;
  readonly since: EpochMillis;
}

/** A pod that served was moved, and the scheduler has found no node for the one in its place. */
export interface StrandedReplacement {
  readonly workload: WorkloadRef;
  readonly side: Side;
  readonly since: EpochMillis;
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
  /** In the whole cluster, all engines; left out, there are none. */
  readonly awaited?: readonly AwaitedReplacement[] | undefined;
  /** Likewise. */
  readonly missing?: readonly MissingReplacement[] | undefined;
  /** Likewise; only those that ask for nothing but on-demand, as spot has a memory of its own. */
  readonly stranded?: readonly StrandedReplacement[] | undefined;
  /** When the workload may be disrupted where placement does not manage it; left out, always. */
  readonly times?: DisruptionTimes | undefined;
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
  /** It may be over in a moment, and nobody needs to be told; left out, that goes by the reason. */
  readonly isBrief?: true;
}

/** What a rule answers: nothing, or why not. */
export type Objection = NamelessBlock | undefined;

/** A block before it is known which rule says so. */
export type NamelessBlock = Omit<Block, 'rule'>;

/**
 * Which kinds of decisions a rule may be about: `every` one, or those of `placement`; moves (`evict`); fallbacks;
 * evictions that give the replacement another size (`size`); every `eviction` of a pod that serves; or whatever makes an
 * `end` of a pod.
 */
export const scopes = {
  every: ['evict', 'fallback', 'restamp', 'evict-to-resize'],
  placement: ['evict', 'fallback', 'restamp'],
  evict: ['evict'],
  fallback: ['fallback'],
  size: ['evict-to-resize'],
  eviction: ['evict', 'evict-to-resize'],
  end: ['evict', 'fallback', 'evict-to-resize'],
} as const satisfies Readonly<Record<string, readonly GuardedDecision['kind'][]>>;

export type Scope = keyof typeof scopes;

/** The subjects of one scope. */
export type SubjectOf<S extends Scope> = Subject<Extract<GuardedDecision, { kind: (typeof scopes)[S][number] }>>;

export function isWithin<S extends Scope>(scope: S, subject: Subject): subject is SubjectOf<S> {
  const kinds: readonly GuardedDecision['kind'][] = scopes[scope];
  return kinds.includes(subject.decision.kind);
}

export interface Rule {
  /** Stable and unique, as tests, explanations and the journal name it. */
  readonly name: string;
  /** Why the rule exists and why it stands where it stands in the order. */
  readonly why: string;
  readonly appliesTo: Scope;
  /** Pure; nothing to say of decisions beyond its scope. Never throws: what cannot be read is an objection of its own. */
  readonly check: (subject: Subject, context: GuardContext) => Objection;
}
