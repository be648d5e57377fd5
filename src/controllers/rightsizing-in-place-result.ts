/** What is told of a workload that is sized in place, where nothing is in its way. */
import { renderReason } from '../lib/reasons.ts';
import type { Millis } from '../lib/units.ts';
import { workloadText } from '../model/cluster-view.ts';
import type { ApplyContext } from './rightsizing-apply.ts';
import { LOOK_AGAIN_MILLIS, resultOfWaiting } from './rightsizing-apply-result.ts';
import type { ApplyResult } from './rightsizing-result.ts';
import { throttlingNote } from './rightsizing-throttling.ts';

/** @param isHeld what is due waits until the changes under way are behind it. */
export function resultInPlace(
  { advised, live, memory }: ApplyContext,
  isResizing: (podUid: string) => boolean,
  isHeld: boolean,
): ApplyResult {
  const first = memory.ongoing.find(({ phase }) => phase === 'canary');
  if (first?.canary !== undefined) {
    const note = throttlingNote(memory.ongoing);
    const watched = renderReason('CanaryWatched', { pod: first.canary.name });
    const message = note === undefined ? watched : `${watched}; ${note}`;
    return { status: 'Pending', reason: 'CanaryWatched', message, againAfterMillis: LOOK_AGAIN_MILLIS };
  }
  const resizing = live.filter(({ pod }) => isResizing(pod.uid)).length;
  if (resizing > 0) {
    const message = `${resizing} of ${live.length} pods are being resized`;
    return { status: 'Pending', reason: 'ResizeInFlight', message, againAfterMillis: LOOK_AGAIN_MILLIS };
  }
  return resultOfWaiting(advised, memory, { isDue: isHeld });
}

/**
 * What is due waits for the end of a rollout, but for what was given meanwhile to pods that have too little.
 * @param dying a pod that ends before it can be given what is in force.
 */
export function resultInRollout({ advised, memory }: ApplyContext, dying: string | undefined): ApplyResult {
  const rollout = renderReason('TemplateRollout', { workload: workloadText(advised.workload) });
  const message =
    dying === undefined
      ? rollout
      : `${rollout}; pod ${dying} ends before it can be resized: deleted, it is made anew with the size in force`;
  const isLookedAfter = memory.ongoing.some(({ phase }) => phase === 'spread');
  return {
    status: 'Pending',
    reason: 'TemplateRollout',
    message,
    ...(isLookedAfter && { againAfterMillis: LOOK_AGAIN_MILLIS }),
  };
}

/** The result, looked at again after `millis` at the latest. */
export function soonEnough(result: ApplyResult, millis: Millis | undefined): ApplyResult {
  if (millis === undefined) return result;
  return { ...result, againAfterMillis: Math.min(millis, result.againAfterMillis ?? millis) };
}
