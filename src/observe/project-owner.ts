/**
 * Owners of ReplicaSets other than Deployments -> records: Argo Rollouts and kinds like them. What is read is what such
 * kinds share with a Deployment: `spec.replicas`, `spec.template`, and the counts in status.
 */
import type { KubeObject, LabelSelector, ReplicaSet } from '../api/core.ts';
import { apiVersionOf, type ResourceType } from '../api/resources.ts';
import type { WorkloadRecord } from '../model/records.ts';
import { countOr, listOf } from './fields.ts';
import type { PodInterners } from './project-pod.ts';
import { projectTemplate } from './project-template.ts';
import { minReady, projectCounts, projectIdentity, projectRollout, stuckSince, withSize } from './project-workload.ts';

/** An object whose schema is not ours to know. */
export interface OwnerObject extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly selector?: LabelSelector;
    readonly template?: ReplicaSetTemplate;
    readonly paused?: boolean;
    readonly minReadySeconds?: number;
    readonly strategy?: object;
  };
  readonly status?: {
    readonly observedGeneration?: number | string;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly readyReplicas?: number;
    readonly availableReplicas?: number;
    readonly conditions?: NonNullable<Parameters<typeof stuckSince>[0]>;
    /** Argo Rollouts: why a canary waits. */
    readonly pauseConditions?: readonly unknown[];
  };
}

type ReplicaSetTemplate = NonNullable<ReplicaSet['spec']>['template'];

/** @throws InvalidValueError (or TypeError for a wrong shape) when the object cannot be read. */
export function projectOwner(object: OwnerObject, type: ResourceType, interners: PodInterners): WorkloadRecord {
  const { spec, status } = object;
  const replicas = countOr(spec?.replicas, 1, 'spec.replicas');
  const record: WorkloadRecord = {
    ...projectIdentity(object, apiVersionOf(type), type.kind),
    observedGeneration: observedGeneration(status?.observedGeneration),
    replicas,
    selector: spec?.selector,
    // A Rollout may take its template from a Deployment it refers to; its ReplicaSets then say what runs.
    template: interners.templates.intern(
      projectTemplate(spec?.template?.metadata?.labels, spec?.template?.spec ?? { containers: [] }),
    ),
    paused: spec?.paused === true || listOf(status?.pauseConditions, 'status.pauseConditions').length > 0,
    ...minReady(spec),
    rollout: projectRollout(spec?.strategy, replicas),
    status: {
      ...projectCounts(status),
      available: countOr(status?.availableReplicas, 0, 'status.availableReplicas'),
      stuckSince: stuckSince(status?.conditions),
      currentRevision: undefined,
      updateRevision: undefined,
    },
  };
  return withSize(record, object, interners);
}

/**
 * Argo Rollouts write a text. One that is no number (versions before 1.0 wrote a hash) says nothing: never observed.
 */
function observedGeneration(value: number | string | undefined): number {
  if (typeof value === 'string') return /^\d{1,15}$/.test(value) ? Number(value) : 0;
  return countOr(value, 0, 'status.observedGeneration');
}
