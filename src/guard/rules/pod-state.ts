/**
 * The pods of the workload have come to rest, and the chosen one may be ended. Our own pacing, which holds where no
 * PodDisruptionBudget does (hazard H23).
 */
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { isLive, ordinalOf } from '../../model/owners.ts';
import type { PodRecord } from '../../model/records.ts';
import { unreadySince, wouldChangeRevision } from '../../model/rollout.ts';
import type { GuardContext, Objection, Subject } from '../context.ts';
import { disruptionRule, endRule, object } from '../objection.ts';
import { isWaitingCover } from '../waiting-cover.ts';

/** Share of the replicas that may be out of service when some of them are so for good. */
const MAX_UNAVAILABLE_SHARE = 0.25;

/** Hazard H25. */
export const noneTerminating = disruptionRule(
  'none-terminating',
  'One at a time: a pod that is still going makes room for nobody. One that does not end (a finalizer) blocks for a limited time only.',
  ({ pods }, { settings, now }) => objectToTerminating(pods, { patienceMillis: settings.stuckRolloutMillis, now }),
);

/** How long pods that do not come to rest are waited for. */
export interface Patience {
  /** From the deletion timestamp, or since the pod is unready. */
  readonly patienceMillis: Millis;
  /** How long a pod must be ready before it counts as such (`spec.minReadySeconds`); default 0. */
  readonly minReadyMillis?: Millis | undefined;
  readonly now: EpochMillis;
}

/**
 * Names the first of `pods` that is on its way out. The deletion timestamp is when the grace period ends, not when
 * deleting began, so patience begins only after what the pod was promised.
 */
export function objectToTerminating(pods: readonly PodRecord[], { patienceMillis, now }: Patience): Objection {
  for (const { deletingAt, name } of pods) {
    if (deletingAt === undefined) continue;
    const remaining = deletingAt + patienceMillis - now;
    if (remaining > 0) {
      return object('PodTerminating', { pod: name }, Number.isFinite(remaining) ? remaining : undefined);
    }
  }
  return undefined;
}

/** descheduler#1712: all replicas of a workload evicted together. */
export const othersReady = disruptionRule(
  'others-ready',
  'No healthy pod is disrupted while another is missing or starting, or where none gets well that was sent to that side. Pods unready for long count as unavailable instead, a quarter of the replicas at most.',
  (subject, context) => {
    const { pods, pod: victim, workload } = subject;
    const { settings, now } = context;
    const live = pods.filter(isLive);
    const objection = objectToUnready(live, victim, workload.replicas, {
      patienceMillis: settings.stuckRolloutMillis,
      minReadyMillis: workload.minReadyMillis,
      now,
    });
    if (objection !== undefined || !victim.ready || !isUnwellThere(subject, context)) return objection;
    return object('PodNotReady', { ready: live.filter(({ ready }) => ready).length, desired: workload.replicas });
  },
);

/**
 * There are pods of the revision on the side that the pod is to move to, and none of them is ready: machines of another
 * kind, say, for which its image is not built. Those on nodes that say nothing tell nothing of the side.
 */
function isUnwellThere({ decision, pods, pod: victim }: Subject, { view, sides }: GuardContext): boolean {
  if (decision.kind !== 'evict') return false;
  const there = pods.filter((pod) => {
    const node = pod.nodeName === undefined || !isLive(pod) ? undefined : view.node(pod.nodeName);
    return pod.owner?.uid === victim.owner?.uid && node?.ready === true && sides.classOf(node) === decision.to;
  });
  return there.length > 0 && there.every(({ ready }) => !ready);
}

/**
 * Why the victim is not to be disrupted for the sake of pods that are missing or not ready. Pods unready beyond
 * patience count as unavailable: with the victim a quarter of the replicas at most.
 * @param live the pods of the workload, the victim among them.
 */
export function objectToUnready(
  live: readonly PodRecord[],
  victim: PodRecord,
  replicas: number,
  { patienceMillis, minReadyMillis = 0, now }: Patience,
): Objection {
  const others = live.filter((pod) => pod.uid !== victim.uid);
  const reliedOnAt = (pod: PodRecord): EpochMillis => (pod.readyChangedAt ?? pod.createdAt) + minReadyMillis;
  const unready = others.filter((pod) => !pod.ready || (minReadyMillis > 0 && reliedOnAt(pod) > now));
  const ready = live.length - unready.length - (victim.ready ? 0 : 1);
  const blocked = (retryAfter?: Millis): Objection => object('PodNotReady', { ready, desired: replicas }, retryAfter);
  if (live.length < replicas) return blocked();
  // Ending a pod that serves nobody takes nothing away.
  if (unready.length === 0 || !victim.ready) return undefined;
  const settledAt = Math.max(...unready.map((pod) => (pod.ready ? reliedOnAt(pod) : settlesAt(pod, patienceMillis))));
  if (settledAt > now) return blocked(Number.isFinite(settledAt) ? settledAt - now : undefined);
  return unready.length + 1 > replicas * MAX_UNAVAILABLE_SHARE ? blocked() : undefined;
}

function settlesAt(pod: PodRecord, patienceMillis: number): EpochMillis {
  return unreadySince(pod) + patienceMillis;
}

/** Hazard H24. */
export const notSingle = disruptionRule(
  'not-single',
  'Moving the only replica stops the service; the owner must have asked for it.',
  (subject, { settings }) =>
    subject.workload.replicas <= 1 && !settings.allowSingleReplica && !isWaitingCover(subject)
      ? object('SingleReplica', {})
      : undefined,
);

/** Hazard H33: `karpenter.sh/do-not-disrupt` and the like, as the projection of pods reads them. */
export const notProtected = disruptionRule(
  'not-protected',
  'Annotations that forbid voluntary disruption to other tools forbid it to us.',
  ({ pod }) =>
    pod.protectedBy === undefined ? undefined : object('Protected', { pod: pod.name, protection: pod.protectedBy }),
);

export const notResizing = disruptionRule(
  'not-resizing',
  'A pod being resized is in the hands of another engine. An eviction to resize also waits for the resizes of the other pods: what comes of them may make it needless.',
  ({ decision, pod, pods }, { isResizing }) => {
    const concerned = decision.kind === 'evict-to-resize' ? pods : [pod];
    const busy = concerned.find(({ uid, resizing }) => resizing || isResizing?.(uid) === true);
    return busy === undefined ? undefined : object('ResizeInFlight', { pod: busy.name });
  },
);

/** Hazard H10. */
export const sameRevision = endRule(
  'same-revision',
  'Where old pods are kept on purpose (OnDelete, a partition), a replacement of another revision would be a rollout nobody asked for.',
  ({ workload, pod }) =>
    wouldChangeRevision(workload, pod, ordinalOf(pod.name, workload.name))
      ? object('RolloutInProgress', { updated: workload.status.updated, desired: workload.replicas })
      : undefined,
);
