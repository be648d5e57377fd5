/** ReplicaSet -> record, and the workload it is itself where nobody owns it. */
import type { ReplicaSet } from '../api/core.ts';
import type { Labels, ReplicaSetRecord, WorkloadRecord } from '../model/records.ts';
import { countOr, instant, requireText, textMap, textOr } from './fields.ts';
import { controllerOf, type PodInterners } from './project-pod.ts';
import { projectTemplate } from './project-template.ts';
import { minReady, projectCounts, projectIdentity, withSize } from './project-workload.ts';

/** @throws InvalidValueError (or TypeError for a wrong shape) when the object cannot be read. */
export function projectReplicaSet(replicaSet: ReplicaSet, interners: PodInterners): ReplicaSetRecord {
  const { metadata = {}, spec } = replicaSet;
  const owner = controllerOf(replicaSet, interners.owners);
  return {
    namespace: textOr(metadata.namespace, 'default', 'metadata.namespace'),
    name: requireText(metadata.name, 'metadata.name'),
    uid: textOr(metadata.uid, '', 'metadata.uid'),
    owner,
    revision: revisionOf(textMap(metadata.labels, 'metadata.labels')),
    replicas: countOr(spec?.replicas, 1, 'spec.replicas'),
    createdAt: instant(metadata.creationTimestamp, 'metadata.creationTimestamp') ?? 0,
    workload: owner === undefined ? projectBareReplicaSet(replicaSet, interners) : undefined,
  };
}

/** The hash by which Deployments tell their ReplicaSets apart, or the one Argo Rollouts use. */
function revisionOf(labels: Labels): string {
  return labels['pod-template-hash'] ?? labels['rollouts-pod-template-hash'] ?? '';
}

/**
 * A ReplicaSet that nobody owns is a workload of one revision. Its status never tells of a rollout: it has none.
 * @throws as {@link projectOwner}
 */
export function projectBareReplicaSet(replicaSet: ReplicaSet, interners: PodInterners): WorkloadRecord {
  const { spec, status } = replicaSet;
  const replicas = countOr(spec?.replicas, 1, 'spec.replicas');
  const record: WorkloadRecord = {
    ...projectIdentity(replicaSet, 'apps/v1', 'ReplicaSet'),
    observedGeneration: countOr(status?.observedGeneration, 0, 'status.observedGeneration'),
    replicas,
    selector: spec?.selector,
    template: interners.templates.intern(
      projectTemplate(spec?.template?.metadata?.labels, spec?.template?.spec ?? { containers: [] }),
    ),
    paused: false,
    ...minReady(spec),
    // It never replaces its pods by itself.
    rollout: { type: 'RollingUpdate', maxSurge: 0, maxUnavailable: 1 },
    status: {
      ...projectCounts(status),
      // All its pods are of its one revision, as soon as it has any.
      updated: Math.max(replicas, countOr(status?.replicas, 0, 'status.replicas')),
      available: countOr(status?.availableReplicas, 0, 'status.availableReplicas'),
      stuckSince: undefined,
      currentRevision: undefined,
      updateRevision: undefined,
    },
  };
  return withSize(record, replicaSet, interners);
}
