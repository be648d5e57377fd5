/**
 * How a resize stands, judged from the pod alone: its spec, its status and KEP-1287 conditions. Pure. Events are never
 * read: they are merged, dropped and late.
 */
import type { ReadAnswer } from '../act/resize-answers.ts';
import { answer, readAnswer } from '../act/resize-answers.ts';
import { describeChanges } from '../decide/rightsizing/due-changes.ts';
import type { ResizeDecision } from '../decide/size-decision.ts';
import type { InFlightResize } from '../guard/size/context.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import { isInForce, withdrawalChanges } from '../model/granted-size.ts';
import { changesOf, effectiveChanges, resourcesOf } from '../model/pod-size.ts';
import { podRef } from '../model/refs.ts';
import type { SizedPod } from '../model/sizing-view.ts';

/** A resize with what is known of its course so far. */
export interface FollowedResize extends InFlightResize {
  readonly decision: ResizeDecision;
  /**
   * The pod's `metadata.generation` with the change in its spec; undefined until the API server has answered, or where
   * its answer does not say. Before it is known a spec with another size counts as not yet seen, not as somebody
   * else's.
   */
  readonly generation: number | undefined;
  /**
   * Since when the node has been saying the same: deadlines count from here, so a resize that makes progress is not cut
   * off.
   */
  readonly stateSince: EpochMillis;
  readonly state: ResizeStanding['kind'];
  /** Of each container when it began: up to here none is its doing. */
  readonly restarts: RestartsByContainer;
  /** How long a container that it restarts may take to end before it is in force; 0 where it restarts none. */
  readonly graceMillis: Millis;
}

/** By name. */
export type RestartsByContainer = ReadonlyMap<string, number>;

export interface ResizeDeadlines {
  /**
   * How long a node may say Deferred before the change is taken back: scheduler and quota count it as granted meanwhile
   * (kubernetes#135107; rightsizing bug 28).
   */
  readonly deferredMillis: Millis;
  /** How long the kubelet may fail and retry: an Error is not an Infeasible (rightsizing bug 11). */
  readonly errorMillis: Millis;
  /** How long nothing at all may be heard. */
  readonly silenceMillis: Millis;
}

/** Where a resize stands. */
export type ResizeStanding =
  /** Sent; the view does not show it yet. */
  | { readonly kind: 'unseen' }
  /** In the spec; the kubelet has not said anything, or is at it. */
  | { readonly kind: 'under-way' }
  | { readonly kind: 'deferred'; readonly answer: ReadAnswer }
  | { readonly kind: 'infeasible'; readonly answer: ReadAnswer }
  | { readonly kind: 'failing'; readonly answer: ReadAnswer }
  /** What is in force is what was asked for. */
  | { readonly kind: 'done' }
  /** The pod, or this pod of the name, is gone or ending. */
  | { readonly kind: 'gone' }
  /** Somebody asked for another size since, or changed on the way what was asked for. */
  | { readonly kind: 'superseded'; readonly answer: ReadAnswer };

/**
 * Order matters: what the spec asks for comes first, then whether the status is about that spec, then what the node
 * says of it. Conditions of an older generation would be read as an answer to a question that was never asked.
 * @param found the pod as the view has it now; undefined where there is none of that name.
 */
export function standingOf(resize: FollowedResize, found: SizedPod | undefined): ResizeStanding {
  if (found === undefined || found.pod.uid !== resize.pod.uid || found.pod.deletingAt !== undefined)
    return { kind: 'gone' };
  const { sizing } = found;
  const { containers, resize: conditions, generation, observedGeneration } = sizing;
  const missing = effectiveChanges(containers, resize.changes);
  if (missing.length > 0) {
    if (resize.generation === undefined || generation < resize.generation) return { kind: 'unseen' };
    const cause = `instead of what was asked for (${describeChanges(missing, containers)})`;
    return { kind: 'superseded', answer: answer('ResizeOverwritten', 'retry', cause) };
  }
  // What the status says is about an older spec. Kubelets before 1.33 do not say which.
  if (observedGeneration !== undefined && observedGeneration < generation) return { kind: 'under-way' };
  const { pending, inProgress } = conditions;
  if (pending !== undefined) {
    const read = readAnswer(pending.reason, pending.message);
    if (read !== undefined) return { kind: pending.reason === 'Deferred' ? 'deferred' : 'infeasible', answer: read };
  }
  if (inProgress !== undefined) {
    const read = inProgress.error === undefined ? undefined : readAnswer('Error', inProgress.error);
    return read === undefined ? { kind: 'under-way' } : { kind: 'failing', answer: read };
  }
  return { kind: isInForce(sizing, resize.changes) ? 'done' : 'under-way' };
}

/** What becomes of a resize that stands like this; undefined while it goes on. */
export type ResizeVerdict =
  | { readonly kind: 'done' | 'gone' | 'lost' }
  | { readonly kind: 'superseded'; readonly answer: ReadAnswer }
  /** The spec goes back to what the node has; `answer.action` says what else could be done. */
  | { readonly kind: 'take-back'; readonly answer: ReadAnswer };

/** @param stateSince since when it has been standing like this. */
export function verdictOn(
  standing: ResizeStanding,
  stateSince: EpochMillis,
  now: EpochMillis,
  deadlines: ResizeDeadlines,
): ResizeVerdict | undefined {
  const lasted = now - stateSince;
  switch (standing.kind) {
    case 'done':
    case 'gone':
      return { kind: standing.kind };
    case 'superseded':
      return standing;
    case 'infeasible':
      return { kind: 'take-back', answer: standing.answer };
    case 'deferred':
      return lasted >= deadlines.deferredMillis ? { kind: 'take-back', answer: standing.answer } : undefined;
    case 'failing':
      return standing.answer.action === 'withdraw' || lasted >= deadlines.errorMillis
        ? { kind: 'take-back', answer: standing.answer }
        : undefined;
    case 'under-way':
      return lasted >= deadlines.silenceMillis
        ? { kind: 'take-back', answer: answer('ResizeNotSeen', 'withdraw', 'its status does not change') }
        : undefined;
    case 'unseen':
      // The watch would have shown it: it never reached the API server.
      return lasted >= deadlines.silenceMillis ? { kind: 'lost' } : undefined;
  }
}

/**
 * Asks for what the node has allocated, so that nobody holds room that is not used. A limit that was added cannot be
 * removed again, only left as it is allocated (KEP-1287). Of a resource that the resize did not name nothing is taken
 * back: it is the other engine's, or differs only as far as the node has rounded it.
 * @returns undefined where nothing is left to take back.
 */
export function withdrawalOf(
  { pod, sizing }: SizedPod,
  resize: ResizeDecision,
  why: string,
): ResizeDecision | undefined {
  const changes = changesOf(withdrawalChanges(sizing), resourcesOf(resize.changes));
  if (changes.length === 0) return undefined;
  const { engine, workload, workloadUid } = resize;
  return {
    kind: 'resize',
    engine,
    workload,
    workloadUid,
    pod: podRef(pod),
    changes,
    isWithdrawal: true,
    why: { summary: why, numbers: {} },
  };
}
