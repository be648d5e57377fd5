/** Whether a workload is being rolled out: its pods are not all of the revision that the template asks for. */
import type { EpochMillis } from '../lib/units.ts';
import type { ClusterView } from './cluster-view.ts';
import { isLive, replicaSetsOf } from './owners.ts';
import type { PodRecord, WorkloadRecord } from './records.ts';

export interface RolloutState {
  readonly inProgress: boolean;
  /** Pods of the new revision, of `desired`. */
  readonly updated: number;
  readonly desired: number;
  /** The rollout has made no progress since this instant; undefined while it moves, or is not known to be stuck. */
  readonly stuckSince: EpochMillis | undefined;
}

/**
 * Told from status and from the pods themselves, whichever says that work is left: status is written after the fact.
 * A StatefulSet with `OnDelete` or a partition rests where its strategy lets it rest.
 */
export function rolloutState(view: ClusterView, workload: WorkloadRecord, pods: readonly PodRecord[]): RolloutState {
  const { status, rollout, replicas } = workload;
  if (rollout.type !== 'StatefulSet') {
    const others = replicaSetsOf(view, workload).filter((replicaSet) => replicaSet.replicas > 0).length - 1;
    const inProgress = others > 0 || status.updated < replicas || status.replicas > status.updated;
    return { inProgress, updated: status.updated, desired: replicas, stuckSince: status.stuckSince };
  }
  const desired = Math.max(0, replicas - rollout.partition);
  const isRolling =
    !rollout.onDelete &&
    status.updateRevision !== undefined &&
    status.currentRevision !== status.updateRevision &&
    status.updated < desired;
  return {
    inProgress: isRolling,
    updated: status.updated,
    desired,
    stuckSince: isRolling ? stuckSince(pods) : undefined,
  };
}

/** A StatefulSet has no condition for it: since the longest unready pod became so. */
function stuckSince(pods: readonly PodRecord[]): EpochMillis | undefined {
  const unready = pods.filter((pod) => isLive(pod) && !pod.ready).map(unreadySince);
  return unready.length === 0 ? undefined : Math.min(...unready);
}

/** When a pod that is not ready became so. */
export function unreadySince(pod: PodRecord): EpochMillis {
  return pod.readyChangedAt ?? pod.createdAt;
}

/** Label that carries the revision of a StatefulSet's pod. */
const CONTROLLER_REVISION = 'controller-revision-hash';

/**
 * Whether a replacement of the pod would be made from another template than the pod itself: moving it would then change
 * what runs. True for an outdated pod of a StatefulSet with `OnDelete`, or at or above the partition. A ReplicaSet
 * always replaces like with like.
 */
export function wouldChangeRevision(workload: WorkloadRecord, pod: PodRecord, ordinal: number | undefined): boolean {
  const { rollout, status } = workload;
  if (rollout.type !== 'StatefulSet' || status.updateRevision === undefined) return false;
  const revision = pod.template.labels[CONTROLLER_REVISION];
  if (revision === undefined) return false;
  // Source: kubernetes pkg/controller/statefulset/stateful_set_utils.go, newVersionedStatefulSetPod.
  const staysOld = !rollout.onDelete && ordinal !== undefined && ordinal < rollout.start + rollout.partition;
  const next = staysOld ? (status.currentRevision ?? status.updateRevision) : status.updateRevision;
  return revision !== next;
}
