/**
 * A resize that restarts a container disrupts as an eviction does: the same is asked of the pod and of the others of
 * its workload. One that restarts nothing is asked none of it (rightsizing bugs 12 and 14: autoscaler#10181, #8609).
 */

import { workloadKey } from '../../../model/cluster-view.ts';
import { isLive } from '../../../model/owners.ts';
import { wasJustKilled } from '../../../model/recent-kill.ts';
import { restartedContainer } from '../../../model/restart-on-resize.ts';
import type { ContainerStatusRecord } from '../../../model/sizing-records.ts';
import { object } from '../../objection.ts';
import { disruptedPods, objectToPdbs } from '../../rules/pdb.ts';
import { objectToTerminating, objectToUnready } from '../../rules/pod-state.ts';
import { hasPlace, type ResizeSubject, restartedBy, restartRule } from '../context.ts';

export const restartsAllowed = restartRule(
  'restarts-allowed',
  'resizePolicy RestartContainer makes a resize a restart, to which the owner must have agreed. Allocation acts every few seconds: it never restarts anything.',
  (subject, { policy }) => {
    const restarted = restartedBy(subject);
    if (restarted === undefined || (policy.allowRecreate && subject.decision.engine !== 'allocation')) return undefined;
    return object('ResizeRestarts', { ...restarted, pod: subject.pod.pod.name });
  },
);

export const restartNotProtected = restartRule(
  'restart-not-protected',
  'Annotations that forbid voluntary disruption to other tools forbid it to us.',
  ({ pod: { pod } }) =>
    pod.protectedBy === undefined ? undefined : object('Protected', { pod: pod.name, protection: pod.protectedBy }),
);

export const restartNotSingle = restartRule(
  'restart-not-single',
  'Restarting the only replica stops the service as evicting it does; the owner must have asked for it. What is killed for want of memory, and not ready, does nothing for anybody: it restarts anyway.',
  (subject, { disruption, now }) => {
    const { workload } = subject;
    if (workload === undefined || workload.replicas > 1 || disruption?.allowSingleReplica === true) return undefined;
    const isDown = restartsOnly(subject, (status) => !status.ready && wasJustKilled(status, now));
    return isDown ? undefined : object('SingleReplica', {});
  },
);

export const restartNoRollout = restartRule(
  'restart-no-rollout',
  'A rollout ends pods at its own pace, and a restart beside it one more; of a paused one what runs is to stay as it is. What did harm is undone all the same, and what is killed for want of memory restarts anyway.',
  (subject, { evictions, now }) => {
    const { decision, workload } = subject;
    if (workload === undefined || decision.isRestore === true) return undefined;
    if (restartsOnly(subject, (status) => wasJustKilled(status, now))) return undefined;
    if (workload.keepsPods === 'Paused') return object('Paused', {});
    // One of ours may not be seen yet.
    const isBegun = hasPlace(workload.uid, evictions);
    return workload.isRollingOut || isBegun
      ? object('TemplateRollout', { workload: workloadKey(workload) })
      : undefined;
  },
);

/** Whether that holds for every container that the resize restarts. */
function restartsOnly(
  { pod: { sizing }, before, changes }: ResizeSubject,
  holds: (status: ContainerStatusRecord) => boolean,
): boolean {
  return changes.every((change) => {
    const status = sizing.statuses.find(({ name }) => name === change.container);
    const isRestarted = restartedContainer(before, [change]) !== undefined;
    return !isRestarted || (status !== undefined && holds(status));
  });
}

export const restartOthersReady = restartRule(
  'restart-others-ready',
  'One at a time: no healthy pod is restarted while another of its workload is missing, starting, ending, or being restarted.',
  ({ workload, pod: { pod: victim } }, { view, disruption, resizes, evictions, now }) => {
    if (workload === undefined) return undefined;
    const pods = view.podsOf(workload).map(({ pod }) => pod);
    const others = pods.filter(({ uid }) => uid !== victim.uid);
    // Where nothing is said of how long to be patient, there is no end to it.
    const patience = { patienceMillis: disruption?.stuckMillis ?? Number.POSITIVE_INFINITY, now };
    const ending = objectToTerminating(others, patience);
    if (ending !== undefined) return ending;
    const going = others.find(({ uid }) => evictions.some(({ podUid }) => podUid === uid));
    if (going !== undefined) return object('EvictionInFlight', { pod: going.name });
    const busy = others.find(({ uid }) => resizes.some((each) => each.pod.uid === uid));
    if (busy !== undefined) return object('ResizeInFlight', { pod: busy.name });
    return objectToUnready(pods.filter(isLive), victim, workload.replicas, {
      ...patience,
      minReadyMillis: workload.minReadyMillis,
    });
  },
);

export const restartWithinPdb = restartRule(
  'restart-within-pdb',
  'The budget of the owners: the API server does not ask it for a restart, so we do.',
  ({ pod: { pod } }, { view, evictions }) => {
    const disrupted = disruptedPods(evictions, (workloadUid) => {
      const workload = view.workloadByUid(workloadUid);
      return workload === undefined ? [] : view.podsOf(workload).map((each) => each.pod);
    });
    return objectToPdbs(view.pdbs(pod.namespace), pod, disrupted);
  },
);
