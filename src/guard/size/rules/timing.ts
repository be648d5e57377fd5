/**
 * It is the right moment: window, cooldown, back-off, and no more at once than the cluster may bear. What takes back,
 * restores or funds another change is exempt from most of it: held up, it would leave the node worse than either state.
 */
import type { SizeDecision } from '../../../decide/size-decision.ts';
import { raisesMemory } from '../../../model/pod-size.ts';
import { inWords, object } from '../../objection.ts';
import { objectToClosed } from '../../rules/timing.ts';
import { resizeRule, type SizeSubject, sizeRule } from '../context.ts';
import { ADMISSION } from '../size-history.ts';

const MINUTE_MILLIS = 60_000;

/** Cooldowns and windows are about changes of mind, not about taking a change back or paying for another one. */
function isExempt(decision: SizeDecision): boolean {
  // Evictions go on to guards of their own, and may be as vain as the ones before.
  if (decision.kind === 'evict-to-resize') return false;
  if (decision.isRestore === true) return true;
  return decision.kind === 'resize' && (decision.isWithdrawal === true || decision.isFunding === true);
}

function targetOf(decision: SizeDecision): { readonly uid: string; readonly name: string } {
  return decision.kind === 'resize'
    ? { uid: decision.pod.uid, name: decision.pod.name }
    : { uid: decision.workloadUid, name: decision.workload.name };
}

export const windowOpen = sizeRule(
  'window-open',
  'Owners choose when their pods may be changed.',
  ({ decision }, { policy, now }) =>
    isExempt(decision) || decision.isRestore === true
      ? undefined
      : objectToClosed(policy.window, now, 'OutsideUpdateWindow'),
);

export const cooledDown = sizeRule(
  'cooled-down',
  'Each change needs time to show its effect before the next one is judged.',
  ({ decision }, { history, policy, now }) => {
    const { uid, name } = targetOf(decision);
    const last = isExempt(decision) ? undefined : history.lastChange(uid);
    const remaining = last === undefined ? 0 : last + policy.cooldownMillis - now;
    if (last === undefined || remaining <= 0) return undefined;
    return object(
      'ChangeCooldown',
      { target: name, ago: inWords(now - last), remaining: inWords(remaining) },
      remaining,
    );
  },
);

export const notBackingOff = sizeRule(
  'not-backing-off',
  'What just failed fails again at once. Taking it back is not trying it again.',
  ({ decision }, { history, now }) => {
    if (decision.kind === 'resize' && decision.isWithdrawal === true) return undefined;
    const failed = history.failed(targetOf(decision).uid);
    // Beside more that had no room, less may do harm, which takes none to be undone.
    if (failed?.isOfMore === true && decision.isRestore === true) return undefined;
    const remaining = failed === undefined ? 0 : failed.retryAt - now;
    if (failed === undefined || remaining <= 0) return undefined;
    return object('ChangeBackoff', { cause: failed.cause, remaining: inWords(remaining) }, remaining);
  },
);

/** Rightsizing bug 9, cluster-wide: a webhook that is down is down for every workload. */
export const bornRight = sizeRule(
  'born-right',
  'A pod that is evicted for its size and comes back with the old one was evicted for nothing, and so would be the next, of whichever workload.',
  ({ decision }, { history, now }) => {
    const missed = decision.kind === 'evict-to-resize' ? history.failed(ADMISSION) : undefined;
    const remaining = missed === undefined ? 0 : missed.retryAt - now;
    if (missed === undefined || remaining <= 0) return undefined;
    return object('NewPodsMissSize', { cause: missed.cause, remaining: inWords(remaining) }, remaining);
  },
);

/** Rightsizing bugs 9 and 35: after so many without effect, an hour and more of rest. */
export const notIneffective = sizeRule(
  'not-ineffective',
  'Changes that change nothing are a fight with another writer or a broken node: stop, and say so.',
  ({ decision }, { history, now }) => {
    if (isExempt(decision)) return undefined;
    // Of a pod and of its workload: the count of one may be over while that of the other is not.
    for (const uid of [targetOf(decision).uid, decision.workloadUid ?? '']) {
      const ineffective = history.ineffective(uid);
      const remaining = ineffective === undefined ? 0 : ineffective.retryAt - now;
      if (ineffective === undefined || remaining <= 0) continue;
      return object('ChangesIneffective', { count: ineffective.count, remaining: inWords(remaining) }, remaining);
    }
    return undefined;
  },
);

export const withinConcurrency = resizeRule(
  'within-concurrency',
  'The cluster as a whole takes only so many resizes at once. Taking one back frees a place.',
  ({ decision }, { resizes, settings }) =>
    decision.isWithdrawal === true || resizes.length < settings.maxConcurrentResizes
      ? undefined
      : object('ResizeConcurrency', { inFlight: resizes.length, limit: settings.maxConcurrentResizes }),
);

export const withinPace = sizeRule(
  'within-pace',
  'A new release or a policy for everything must not change thousands of pods in one minute. Last, so that only changes that could go ahead compete.',
  (subject, { history, settings, now }) => {
    if (isExempt(subject.decision)) return undefined;
    const begun = history.changesSince(now - MINUTE_MILLIS);
    const { limit, isUrgent } = paceOf(subject, settings.maxChangesPerMinute);
    if (begun.length < limit) return undefined;
    // All else may be thousands, which would all look again whenever one place comes free.
    const last = isUrgent ? (begun[begun.length - limit] ?? now) : now;
    return object('ChangePace', { count: begun.length, limit }, last + MINUTE_MILLIS - now);
  },
);

/** Of all places, those that are kept for more memory. */
const KEPT_FOR_MEMORY = 0.25;

/** Too little memory kills, and that within minutes; all else can wait for the next one. */
function paceOf(
  { decision, before, after }: SizeSubject,
  limit: number,
): { readonly limit: number; readonly isUrgent: boolean } {
  if (decision.kind === 'resize' && decision.engine !== 'rightsizing') return { limit, isUrgent: false };
  if (raisesMemory(before, after)) return { limit, isUrgent: true };
  return { limit: Math.max(1, limit - Math.ceil(limit * KEPT_FOR_MEMORY)), isUrgent: false };
}
