/** A StatefulSet's status. Pure. */
import type { Pod, StatefulSet } from '../../../api/core.ts';
import { isAvailable, isReady, isTerminating } from '../../pod-state.ts';
import { REVISION_LABEL, type StatefulSetView } from './stateful-set-plan.ts';

export type StatefulSetStatus = NonNullable<StatefulSet['status']>;

/** Source: pkg/controller/statefulset `computeReplicaStatus`, `completeUpdate`. */
export function statefulSetStatus(view: StatefulSetView, collisionCount: number): StatefulSetStatus {
  const { set, pods, currentRevision, updateRevision, nowMillis } = view;
  const minReadySeconds = set.spec?.minReadySeconds ?? 0;
  const replicas = set.spec?.replicas ?? 1;
  const count = (test: (pod: Pod) => boolean): number => pods.filter(test).length;
  const isOf = (revision: string) => (pod: Pod) =>
    !isTerminating(pod) && pod.metadata?.labels?.[REVISION_LABEL] === revision;
  const readyReplicas = count((pod) => pod.status?.phase === 'Running' && isReady(pod));
  const updatedReplicas = count(isOf(updateRevision));
  const isComplete = updatedReplicas === replicas && readyReplicas === replicas && pods.length === replicas;
  const { conditions } = set.status ?? {};
  return {
    observedGeneration: set.metadata?.generation ?? 0,
    replicas: pods.length,
    readyReplicas,
    availableReplicas: count((pod) => pod.status?.phase === 'Running' && isAvailable(pod, minReadySeconds, nowMillis)),
    currentReplicas: isComplete ? updatedReplicas : count(isOf(currentRevision)),
    updatedReplicas,
    currentRevision: isComplete ? updateRevision : currentRevision,
    updateRevision,
    collisionCount,
    ...(conditions === undefined ? {} : { conditions }),
  };
}
