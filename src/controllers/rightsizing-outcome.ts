/** What an attempt that did not go through means for the workload's entry in the status. */

import { renderReason } from '../lib/reasons.ts';
import type { Millis } from '../lib/units.ts';
import type { SizedWorkload } from '../model/sizing-records.ts';
import type { ActResult } from './rightsizing-actuator.ts';
import type { Advised } from './rightsizing-advise.ts';
import type { WorkloadMemory } from './rightsizing-memory.ts';
import type { ApplyResult } from './rightsizing-result.ts';

/** Only time or another change in the cluster is waited for: nobody has to do anything. */
const passing: ReadonlySet<string> = new Set([
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
  'NodeHasNoRoom',
  'ResizeConcurrency',
  'ChangePace',
  'PodNotRunning',
]);
const RETRY_MILLIS: Millis = 15_000;

/** @returns undefined where the attempt went through, or its object is gone. */
export function outcomeOfAttempt(workload: SizedWorkload, attempt: ActResult): ApplyResult | undefined {
  if (attempt.kind === 'blocked') {
    const { reason, message, advice, retryAfterMillis } = attempt.block;
    const isPassing = passing.has(reason);
    return {
      status: isPassing ? 'Pending' : 'Skipped',
      reason,
      message,
      advice,
      againAfterMillis: retryAfterMillis ?? (isPassing ? RETRY_MILLIS : undefined),
    };
  }
  if (attempt.kind !== 'refused') return undefined;
  const { action, reason, message, advice } = attempt.answer;
  if (reason === 'ResizeForbidden') {
    const cause = message;
    return {
      status: 'Error',
      reason: 'RBACError',
      message: renderReason('RBACError', { ...workload, cause }),
      isForbidden: true,
    };
  }
  const again = action === 'retry' || action === 'wait' ? RETRY_MILLIS : undefined;
  return { status: again === undefined ? 'Skipped' : 'Pending', reason, message, advice, againAfterMillis: again };
}

/** Nothing is to be done now: it has what it should, or what holds the advice back. */
export function outcomeAtRest({ advice }: Advised, memory: WorkloadMemory): ApplyResult {
  const held = advice.flatMap(({ container, cpu, memory: ram }) => [
    ...(cpu.held === undefined ? [] : [{ container, resource: 'CPU', advice: cpu, held: cpu.held }]),
    ...(ram.held === undefined ? [] : [{ container, resource: 'memory', advice: ram, held: ram.held }]),
  ]);
  // What is as it should be says less than what is kept from it.
  const telling = held.find((each) => each.held !== 'WithinMinChange') ?? held[0];
  const isHeld = telling !== undefined && telling.held !== 'WithinMinChange';
  if (memory.lastApplied !== undefined && !isHeld) return { status: 'Applied' };
  if (telling === undefined) return { status: 'Applied' };
  const { container, resource, held: reason } = telling;
  const message = `${renderReason(reason, { what: `${resource} of container ${container}` })}: ${telling.advice.notes.at(-1)?.text ?? ''}`;
  return { status: memory.lastApplied === undefined ? 'Skipped' : 'Applied', reason, message };
}
