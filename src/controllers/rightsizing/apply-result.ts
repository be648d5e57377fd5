/**
 * How applying went, for the workload's entry in the status: from an attempt that did not go through, or where none is
 * to be made.
 */

import type { ReadAnswer } from '../../act/resize-answers.ts';
import type { CapReason, HoldReason, ResourceAdvice, StageNote } from '../../decide/rightsizing/advice.ts';
import type { SizedAdvice } from '../../decide/rightsizing/recommend-workload.ts';
import type { Block } from '../../guard/context.ts';
import { type ReasonName, renderReason } from '../../lib/reasons.ts';
import type { Millis } from '../../lib/units.ts';
import type { SizedWorkload } from '../../model/sizing-records.ts';
import type { Advised } from './advise.ts';
import type { WorkloadMemory } from './memory.ts';
import { isWarning } from './report.ts';
import { type ApplyResult, type AttemptOutcome, pending } from './result.ts';

/**
 * Reasons for which only time or another change in the cluster is waited for: nobody has to do anything, so the
 * workload is `Pending` and not `Skipped`.
 */
const passing: ReadonlySet<ReasonName> = new Set([
  'NotLeader',
  'CachesStale',
  'LeaderWarmup',
  'OutsideUpdateWindow',
  'ChangeCooldown',
  'ChangeBackoff',
  'TemplateRollout',
  'EvictionInFlight',
  'ResizeInFlight',
  'WaitsForDecrease',
  'QuotaKept',
  'NodeHasNoRoom',
  'ResizeConcurrency',
  'ChangePace',
  'PodNotRunning',
  'OutsideWindow',
  'CooldownActive',
  'ConcurrencyLimit',
  'AwaitingTurn',
  'RolloutInProgress',
  'GenerationNotObserved',
  'ReplacementMissing',
  'PodTerminating',
  'PodNotReady',
  'NodeLeaving',
  'NodeSilent',
  'NodeNotReady',
  'StormCalm',
  'ThrottledByApi',
  'PreconditionFailed',
]);
/** Where the guard that objects does not say itself how long it will. */
const RETRY_MILLIS: Millis = 15_000;

/** No attempt is made for a while because the last one failed: what failed is the reason, not the pause. */
const pauses: ReadonlySet<ReasonName> = new Set(['ChangeBackoff', 'ChangesIneffective']);

/** Of one workload, where a pause after a refusal tells the refusal: the pause alone would say nothing. */
export class AttemptResults {
  /** What the API server last said no with: it is the reason as long as no new attempt is made. */
  #refused: ApplyResult | undefined;

  get isRefused(): boolean {
    return this.#refused !== undefined;
  }

  /** Of every attempt. @returns undefined where it went through, or its object is gone. */
  note(workload: SizedWorkload, attempt: AttemptOutcome): ApplyResult | undefined {
    if (attempt.kind === 'blocked') return this.#resultOfBlock(attempt.block);
    this.#refused = attempt.kind === 'refused' ? resultOfRefusal(workload, attempt.answer) : undefined;
    return this.#refused;
  }

  #resultOfBlock({ reason, message, advice, retryAfterMillis }: Block): ApplyResult {
    const isPassing = passing.has(reason);
    const againAfterMillis = retryAfterMillis ?? (isPassing ? RETRY_MILLIS : undefined);
    if (this.#refused !== undefined && pauses.has(reason)) return { ...this.#refused, againAfterMillis };
    const isForbidden = reason === 'RightMissing';
    return { status: isPassing ? 'Pending' : 'Skipped', reason, message, advice, againAfterMillis, isForbidden };
  }
}

/** The API server's own message goes along: webhooks and quotas explain themselves there. */
function resultOfRefusal(workload: SizedWorkload, { action, reason, message, advice }: ReadAnswer): ApplyResult {
  if (reason === 'ResizeForbidden') {
    const text = renderReason('RBACError', { ...workload, cause: message });
    return { status: 'Error', reason: 'RBACError', message: text, advice, isForbidden: true };
  }
  const again = action === 'retry' || action === 'wait' ? RETRY_MILLIS : undefined;
  // A quota that is full is asked again, and yet somebody has to raise it.
  const status = again === undefined || isWarning(reason) ? 'Skipped' : 'Pending';
  return { status, reason, message, advice, againAfterMillis: again };
}

interface Told {
  readonly container: string;
  readonly resource: string;
  readonly advice: ResourceAdvice;
}

/** Nothing is to be done now: it has what it should, or what holds the advice back. */
export function resultAtRest({ advice }: Advised, memory: WorkloadMemory): ApplyResult {
  const held = perResource(advice).flatMap((each) => {
    const reason = each.advice.held;
    return reason === undefined ? [] : [{ ...each, reason }];
  });
  // What somebody has to do something about says most, and what is as it should be least.
  const warned = held.find(({ reason }) => isWarning(reason));
  const telling = warned ?? held.find(({ reason }) => reason !== 'WithinMinChange');
  const first = telling ?? held[0];
  if (telling === undefined) {
    const capped = cappedResult(advice);
    if (capped !== undefined) return { status: 'Applied', ...capped };
    if (memory.times.lastApplied !== undefined || first === undefined) return { status: 'Applied' };
  }
  if (first === undefined) return { status: 'Applied' };
  const { notes } = first.advice;
  const note = first.reason === 'QuotaExceeded' ? notes.find(({ stage }) => stage === 'quota') : notes.at(-1);
  // Whoever requests what is recommended needs no change to have it.
  // Nor is it applied, if it ever was before, where that somebody has to come first.
  const isKept = warned !== undefined || (telling !== undefined && memory.times.lastApplied === undefined);
  const status = isKept ? 'Skipped' : 'Applied';
  return { status, reason: first.reason, message: messageOf(first, first.reason, note) };
}

/** A workload with a change under way is looked at this often. */
export const LOOK_AGAIN_MILLIS: Millis = 5_000;

/**
 * Nothing begins now: there is nothing to do, or what is due waits until the changes under way are behind it.
 * @param held a decrease that is not worth what it costs, which then is what is told.
 */
export function resultOfWaiting(
  advised: Advised,
  memory: WorkloadMemory,
  { isDue, held }: { readonly isDue: boolean; readonly held?: ApplyResult | undefined },
): ApplyResult {
  // A decrease is watched until it is behind us.
  const againAfterMillis = memory.watches.ongoing.length === 0 ? undefined : LOOK_AGAIN_MILLIS;
  if (held !== undefined) return { ...held, againAfterMillis: againAfterMillis ?? held.againAfterMillis };
  if (isDue) {
    const message = renderReason('ChangeWatched', {});
    return pending('ChangeWatched', message, againAfterMillis);
  }
  return { ...resultAtRest(advised, memory), againAfterMillis };
}

/** More is needed than something allows; undefined where nothing is capped. */
export function cappedResult(
  advice: readonly SizedAdvice[],
): { readonly reason: CapReason; readonly message: string } | undefined {
  for (const each of perResource(advice)) {
    const { capped, notes, target } = each.advice;
    if (capped === undefined) continue;
    // The note that gave the value its bound.
    const note = notes.find(({ value, stage }) => value === target && stage !== 'target');
    return { reason: capped, message: messageOf(each, capped, note) };
  }
  return undefined;
}

function perResource(advice: readonly SizedAdvice[]): readonly Told[] {
  return advice.flatMap(({ container, cpu, memory }) => [
    { container, resource: 'CPU', advice: cpu },
    { container, resource: 'memory', advice: memory },
  ]);
}

function messageOf({ container, resource }: Told, reason: CapReason | HoldReason, note: StageNote | undefined): string {
  const message = renderReason(reason, { what: `${resource} of container ${container}` });
  return note === undefined ? message : `${message}: ${note.text}`;
}
