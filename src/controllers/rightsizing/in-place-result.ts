/** What is told of a workload that is sized in place, where nothing is in its way. */
import { noneResizable } from '../../decide/rightsizing/pod-drift.ts';
import { renderReason } from '../../lib/reasons.ts';
import type { Millis } from '../../lib/units.ts';
import { workloadText } from '../../model/cluster-view.ts';
import { noReplicas } from '../../model/replica-sizes.ts';
import type { ApplyContext } from './apply.ts';
import { LOOK_AGAIN_MILLIS, resultOfWaiting } from './apply-result.ts';
import { NONE_RUNS } from './in-place-problem.ts';
import { type ApplyResult, pending } from './result.ts';
import { throttlingNote } from './throttling.ts';

/** @param isHeld what is due waits until the changes under way are behind it. */
export function resultInPlace(
  { advised, live, memory }: ApplyContext,
  isResizing: (podUid: string) => boolean,
  isHeld: boolean,
): ApplyResult {
  const first = memory.watches.ongoing.find(({ phase }) => phase === 'canary');
  if (first?.canary !== undefined) {
    const note = throttlingNote(memory.watches.ongoing);
    const watched = renderReason('CanaryWatched', { pod: first.canary.name });
    const message = note === undefined ? watched : `${watched}; ${note}`;
    return pending('CanaryWatched', message, LOOK_AGAIN_MILLIS);
  }
  const resizing = live.filter(({ pod }) => isResizing(pod.uid)).length;
  if (resizing > 0) {
    const message = `${resizing} of ${live.length} pods are being resized`;
    return pending('ResizeInFlight', message, LOOK_AGAIN_MILLIS);
  }
  return resultOfWaiting(advised, memory, { isDue: isHeld });
}

/**
 * What is due waits for the end of a rollout, or for pods that can be resized, but for what was given to pods that have
 * too little.
 * @param dying a pod that ends before it can be given what is in force.
 * @returns undefined where neither is waited for.
 */
export function resultOfWaitingPods(context: ApplyContext, dying: string | undefined): ApplyResult | undefined {
  const { isRollingOut } = context.advised.workload;
  const wait = isRollingOut ? inRollout(context) : noneResizable(context.live) ? noneRuns(context) : undefined;
  if (wait === undefined) return undefined;
  const help = 'ends before it can be resized: deleted, it is made anew with the size in force';
  const isLookedAfter = context.memory.watches.ongoing.some(({ phase }) => phase === 'spread');
  return {
    ...wait,
    message: dying === undefined ? wait.message : `${wait.message}; pod ${dying} ${help}`,
    ...(isLookedAfter && { againAfterMillis: LOOK_AGAIN_MILLIS }),
  };
}

function inRollout({ advised: { workload } }: ApplyContext): ApplyResult {
  return pending('TemplateRollout', renderReason('TemplateRollout', { workload: workloadText(workload) }));
}

function noneRuns({ advised: { workload }, replicas = noReplicas }: ApplyContext): ApplyResult {
  const reason = replicas.size > 0 ? 'ReplicasNeedInPlace' : 'InPlaceResizeUnavailable';
  return { status: 'Skipped', reason, message: renderReason(reason, { ...workload, cause: NONE_RUNS }) };
}

/** The result, looked at again after `millis` at the latest. */
export function soonEnough(result: ApplyResult, millis: Millis | undefined): ApplyResult {
  if (millis === undefined) return result;
  return { ...result, againAfterMillis: Math.min(millis, result.againAfterMillis ?? millis) };
}
