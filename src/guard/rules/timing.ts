/** It is the right moment: window, cooldown, one eviction at a time, and no more than the cluster-wide budget. */
import type { DisruptionTimes } from '../../decide/placement/policy.ts';
import type { DisruptionWindow } from '../../lib/schedule.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { Objection } from '../context.ts';
import { disruptionRule, inWords, object } from '../objection.ts';
import { isWaitingCover } from '../waiting-cover.ts';

export const windowOpen = disruptionRule(
  'window-open',
  'Owners choose when their pods may be moved.',
  (subject, { policy, times, now }) =>
    isWaitingCover(subject) ? undefined : objectToTimes(policy.state === 'managed' ? policy : times, now),
);

/** Why not at this time, by what owners say of disruptions. @param times undefined: always. */
export function objectToTimes(times: DisruptionTimes | undefined, now: EpochMillis): Objection {
  if (times?.unreadable === undefined) return objectToClosed(times?.window, now, 'OutsideWindow');
  const { name: reason, message, advice } = times.unreadable;
  return { reason, message, advice, retryAfterMillis: undefined };
}

/** Why not at this time. @param window undefined: always open. */
export function objectToClosed(
  window: DisruptionWindow | undefined,
  now: EpochMillis,
  reason: 'OutsideWindow' | 'OutsideUpdateWindow',
): Objection {
  if (window === undefined || window.isOpen(now)) return undefined;
  const opensAt = window.nextChange(now);
  // A schedule may name a day that never comes, such as 31 February: nobody is to wait for it.
  if (opensAt === undefined) return object(reason, { opensAt: 'no time within five years' });
  return object(reason, { opensAt: new Date(opensAt).toISOString() }, opensAt - now);
}

/**
 * Nothing is remembered across processes: that the predecessor's cooldown is kept, too, is the business of
 * `leader-warm-up`.
 */
export const cooledDown = disruptionRule(
  'cooled-down',
  'Each move needs time to show its effect before the next one is judged.',
  ({ decision }, { history, settings, now }) =>
    objectToSoon(history.lastDisruption(decision.workloadUid), settings.cooldownMillis, now),
);

/** Why not so soon after the last disruption. @param last undefined: there was none. */
export function objectToSoon(last: EpochMillis | undefined, cooldownMillis: Millis, now: EpochMillis): Objection {
  const remaining = last === undefined ? 0 : last + cooldownMillis - now;
  if (last === undefined || remaining <= 0) return undefined;
  return object('CooldownActive', { ago: inWords(now - last), remaining: inWords(remaining) }, remaining);
}

/** Hazard H27. */
export const nothingInFlight = disruptionRule(
  'nothing-in-flight',
  'The view may still show a pod that was evicted a moment ago; until it is seen gone, the workload waits.',
  ({ decision, workload, pods, pod: victim }, { inFlight, isResizing }) => {
    const own = inFlight.find((eviction) => eviction.workloadUid === decision.workloadUid);
    if (own === undefined) return undefined;
    if (own.isRollout === true) {
      return object('RolloutInProgress', { updated: workload.status.updated, desired: workload.replicas });
    }
    const name = pods.find((pod) => pod.uid === own.podUid)?.name ?? victim.name;
    // A restart takes a place as well.
    return isResizing?.(own.podUid) === true
      ? object('ResizeInFlight', { pod: name })
      : object('PodTerminating', { pod: name });
  },
);

/** Hazard H32. */
export const withinBudget = disruptionRule(
  'within-budget',
  'The cluster as a whole takes only so many disruptions at once. Last, so that only decisions that could go ahead compete.',
  (_, { inFlight, settings }) =>
    inFlight.length < settings.maxConcurrentEvictions
      ? undefined
      : object('ConcurrencyLimit', { inFlight: inFlight.length, limit: settings.maxConcurrentEvictions }),
);
