/** Objects with a pod template -> {@link SizedWorkload}. */
import type { CronJob, DaemonSet, Job, KubeObject, Pod } from '../../api/core.ts';
import type { OwnerReference, WorkloadRecord } from '../../model/records.ts';
import type { SizedWorkload } from '../../model/sizing-records.ts';
import { countOr, textMap } from '../fields.ts';
import type { Interner } from '../intern.ts';
import { controllerOf, controllerReference } from '../project-pod.ts';
import { minReady, projectIdentity, refusedSince } from '../project-workload.ts';
import { isNeverGuaranteed, projectContainers } from './project-containers.ts';
import { marksOf } from './project-pod-sizing.ts';
import { templateManagers } from './resource-managers.ts';
import type { SizingInterners } from './sizing-interners.ts';

/** Any object whose pods are made from `spec.template`. */
export interface SizedObject extends KubeObject {
  readonly spec?: { readonly template?: { readonly spec?: Pod['spec'] | null } | null | undefined };
}

/**
 * The part of a workload's record that sizing needs; undefined for an object that cannot be read for it, which may be
 * placed all the same.
 */
export type SizeWorkload = (object: SizedObject, record: WorkloadRecord) => SizedWorkload | undefined;

/** @throws InvalidValueError (or TypeError for a wrong shape) when the object cannot be read. */
export function projectSized(object: SizedObject, record: WorkloadRecord, interners: SizingInterners): SizedWorkload {
  return {
    ...identityOf(record),
    ...ownerOf(object),
    ...projectSizes(object, object.spec?.template?.spec ?? undefined, interners),
    replicas: record.replicas,
    isRollingOut: isRollingOut(record),
    ...keptPods(record.paused, record.rollout.type === 'StatefulSet' && record.rollout.onDelete),
    ...(record.rollout.type === 'RollingUpdate' && record.rollout.maxUnavailable === 0 && { needsSurge: true }),
    ...(record.status.stuckSince !== undefined && { isStuck: true }),
    ...refusal(object),
    ...(record.minReadyMillis !== undefined && { minReadyMillis: record.minReadyMillis }),
    selector: record.selector,
  };
}

/**
 * `replicas` are the nodes it is meant for now. With `OnDelete` nobody replaces pods by himself, so it is never rolling
 * out.
 * @throws InvalidValueError (or TypeError for a wrong shape) when the object cannot be read.
 */
export function projectDaemonSet(daemonSet: DaemonSet, interners: SizingInterners): SizedWorkload {
  const { metadata, spec, status } = daemonSet;
  const desired = countOr(status?.desiredNumberScheduled, 0, 'status.desiredNumberScheduled');
  const updated = countOr(status?.updatedNumberScheduled, 0, 'status.updatedNumberScheduled');
  const isObserved = countOr(status?.observedGeneration, 0, 'status.observedGeneration') >= (metadata?.generation ?? 0);
  return {
    ...identityOf(projectIdentity(daemonSet, 'apps/v1', 'DaemonSet')),
    ...ownerOf(daemonSet),
    ...projectSizes(daemonSet, spec?.template.spec, interners),
    replicas: desired,
    isRollingOut: !isObserved || (spec?.updateStrategy?.type !== 'OnDelete' && updated < desired),
    ...keptPods(false, spec?.updateStrategy?.type === 'OnDelete'),
    ...minReady(spec),
    selector: spec?.selector,
  };
}

/** A Job, with the CronJob it belongs to. */
export interface JobRecord {
  readonly workload: SizedWorkload;
  readonly owner: OwnerReference | undefined;
}

/** @throws InvalidValueError (or TypeError for a wrong shape) when the object cannot be read. */
export function projectJob(job: Job, interners: SizingInterners, owners: Interner<OwnerReference>): JobRecord {
  return {
    workload: {
      ...identityOf(projectIdentity(job, 'batch/v1', 'Job')),
      ...projectSizes(job, job.spec?.template.spec, interners),
      replicas: countOr(job.spec?.parallelism, 1, 'spec.parallelism'),
      isRollingOut: false,
      selector: job.spec?.selector,
    },
    owner: controllerOf(job, owners),
  };
}

/** @throws InvalidValueError (or TypeError for a wrong shape) when the object cannot be read. */
export function projectCronJob(cronJob: CronJob, interners: SizingInterners): SizedWorkload {
  const job = cronJob.spec?.jobTemplate.spec;
  const path = ['f:spec', 'f:jobTemplate', 'f:spec', 'f:template', 'f:spec'];
  return {
    ...identityOf(projectIdentity(cronJob, 'batch/v1', 'CronJob')),
    ...projectSizes(cronJob, job?.template.spec, interners, path),
    replicas: countOr(job?.parallelism, 1, 'spec.jobTemplate.spec.parallelism'),
    isRollingOut: false,
    selector: undefined,
  };
}

type Identity = Pick<
  SizedWorkload,
  'apiVersion' | 'kind' | 'namespace' | 'name' | 'uid' | 'resourceVersion' | 'createdAt' | 'deleting'
>;

function identityOf(record: Identity): Identity {
  const { apiVersion, kind, namespace, name, uid, resourceVersion, createdAt, deleting } = record;
  return { apiVersion, kind, namespace, name, uid, resourceVersion, createdAt, deleting };
}

function ownerOf(object: KubeObject): Pick<SizedWorkload, 'owner'> {
  const owner = controllerReference(object);
  return owner === undefined ? {} : { owner: { apiVersion: owner.apiVersion, kind: owner.kind, name: owner.name } };
}

/** @param path fields from the root to the pod spec, where it is not that of a Deployment. */
function projectSizes(
  { metadata }: KubeObject,
  spec: Pod['spec'],
  interners: SizingInterners,
  path?: readonly string[],
): Pick<SizedWorkload, 'labels' | 'annotations' | 'containers' | 'isNeverGuaranteed' | 'templateManagers'> {
  return {
    labels: interners.marks.intern(textMap(metadata?.labels, 'metadata.labels')),
    annotations: interners.marks.intern(marksOf(textMap(metadata?.annotations, 'metadata.annotations'))),
    containers: interners.containers.intern(projectContainers(spec)),
    ...(isNeverGuaranteed(spec) && { isNeverGuaranteed: true }),
    templateManagers: interners.templateManagers.intern(templateManagers(metadata?.managedFields, path)),
  };
}

function refusal(object: object): Pick<SizedWorkload, 'refusedSince'> {
  const { status } = object as { readonly status?: { readonly conditions?: Parameters<typeof refusedSince>[0] } };
  const since = refusedSince(status?.conditions);
  return since === undefined ? {} : { refusedSince: since };
}

function keptPods(isPaused: boolean, isOnDelete: boolean): Pick<SizedWorkload, 'keepsPods'> {
  if (isPaused) return { keepsPods: 'Paused' };
  return isOnDelete ? { keepsPods: 'OnDelete' } : {};
}

/** Whether pods of an older template are still being replaced, or may be: the controller has not said yet. */
function isRollingOut(record: WorkloadRecord): boolean {
  const { kind, generation, observedGeneration, replicas, rollout, status } = record;
  // A ReplicaSet never replaces its pods.
  if (kind === 'ReplicaSet') return false;
  if (observedGeneration < generation) return true;
  if (rollout.type !== 'StatefulSet') return status.updated < replicas || status.replicas > status.updated;
  if (rollout.onDelete || status.currentRevision === status.updateRevision) return false;
  // So many keep the old template on purpose, whatever the first ordinal is.
  return status.updated < replicas - rollout.partition;
}
