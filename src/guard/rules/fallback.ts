/**
 * Fallbacks (hazard H5): the pod still waits, on-demand may cover for it, and the cluster does not ask for more at once
 * than it can take. The rules about disruption are not asked: a pod that never ran serves nobody, and no budget is
 * spent on it.
 */
import { fallbackRule, object } from '../objection.ts';
import { objectToTerminating } from './pod-state.ts';

export const stillWaiting = fallbackRule(
  'still-waiting',
  'Only a pod that never ran is recreated; one that found a place at the last moment stays.',
  ({ pod, decision }) => {
    const isWaiting = pod.phase === 'Pending' && pod.nodeName === undefined && pod.unschedulableSince !== undefined;
    return isWaiting && pod.resourceVersion === decision.resourceVersion
      ? undefined
      : object('PreconditionFailed', { pod: pod.name });
  },
);

/** Hazard H11: its ordinals are made one after the other, so a second gap could only wait behind the first. */
export const noneTerminatingOfSet = fallbackRule(
  'none-terminating-of-set',
  'A StatefulSet loses one pod at a time, whatever the reason.',
  ({ pods, workload }, { settings, now }) =>
    workload.rollout.type === 'StatefulSet'
      ? objectToTerminating(pods, { patienceMillis: settings.stuckRolloutMillis, now })
      : undefined,
);

export const fallbackAllowed = fallbackRule(
  'fallback-allowed',
  'On-demand costs more; its owner may have limited how much of a workload it covers.',
  ({ decision, pod }) =>
    decision.excess <= decision.maxExcess
      ? undefined
      : object('FallbackShare', { pod: pod.name, limit: decision.maxExcess }),
);

export const fallbackInTurn = fallbackRule(
  'fallback-in-turn',
  'When spot fails for everybody, on-demand is asked for a limited number of pods at a time. Last, as it is a budget all share.',
  (_, { waitingCovers = 0, settings }) => {
    const limit = settings.fallback.maxConcurrent;
    return waitingCovers < limit ? undefined : object('FallbackBusy', { waiting: waitingCovers, limit }, RETRY_MILLIS);
  },
);

/** Cover of another workload that finds a node wakes nobody here. */
const RETRY_MILLIS = 5_000;
