/**
 * Gives new pods the sizes that the running ones of their workload have, so that neither a rollout nor a new replica
 * starts from the template's old values, and the template need not be edited.
 */
import { rightsizingKeys } from '../api/annotations-rightsizing.ts';
import type { Pod } from '../api/core.ts';
import type { JsonPatchOperation } from '../api/kube-api.ts';
import { readAppliedSizes, withAppliedSizes } from '../model/applied-sizes.ts';
import { withInjected } from '../model/awaited-pods.ts';
import { newestLive } from '../model/newest-pod.ts';
import { resourcesBody } from '../model/original-sizes.ts';
import { applyChanges, effectiveChanges, qosClassOf, sizeKeys, withDefaultRequests } from '../model/pod-size.ts';
import type { QuotaSubject } from '../model/quota-scopes.ts';
import type { OwnerReference } from '../model/records.ts';
import { replicaOf } from '../model/replica.ts';
import { readReplicaSizes, withReplicaSizes } from '../model/replica-sizes.ts';
import { limitRangeProblem, withLimitDefaults } from '../model/size-bounds.ts';
import type { ContainerSize, ContainerSpecRecord, LimitRangeRecord, SizedWorkload } from '../model/sizing-records.ts';
import { runOnceContainers } from '../observe/sizing/project-containers.ts';
import { hasPodLevelResources, projectSize } from '../observe/sizing/project-size.ts';
import { type BeyondQuotaOptions, createBeyondQuota } from './beyond-quota.ts';
import { createRefusedSizes } from './refused-sizes.ts';

export interface SizeNewPodsOptions extends BeyondQuotaOptions {
  /** Of a pod of this namespace; nothing where the owner is of another. */
  readonly workloadOf: (namespace: string, owner: OwnerReference) => SizedWorkload | undefined;
  /** A valid policy in Auto has the say over it, and nothing keeps Stowage from acting. */
  readonly isActive: (workload: SizedWorkload) => boolean;
  readonly limitRanges: (namespace: string) => readonly LimitRangeRecord[];
}

/**
 * @param hasAnnotations whether the pod will have annotations once what is patched before is applied.
 * @param isDryRun it is answered like any other, and nothing is learned from its having been asked for; default false.
 * @returns operations to append to the answer's patch; empty where the pod stays as it is.
 */
export type SizeNewPods = (
  pod: Pod,
  namespace: string,
  owner: OwnerReference | undefined,
  hasAnnotations: boolean,
  isDryRun?: boolean,
) => readonly JsonPatchOperation[];

export function createSizeNewPods(options: SizeNewPodsOptions): SizeNewPods {
  const { workloadOf, isActive, limitRanges, podsOf } = options;
  const isBeyondQuota = createBeyondQuota(options);
  const areSizesRefused = createRefusedSizes(options);

  return (pod, namespace, owner, hasAnnotations, isDryRun = false) => {
    const workload = owner === undefined ? undefined : workloadOf(namespace, owner);
    const text = workload?.annotations[rightsizingKeys.appliedSizes];
    const ofReplicas = workload?.annotations[rightsizingKeys.replicaSizes];
    // Most pods of a cluster end here.
    if (workload === undefined || (text === undefined && ofReplicas === undefined) || !isActive(workload)) return [];
    // Its containers must stay within these, which are not ours: with more it would be refused.
    if (hasPodLevelResources(pod.spec)) return [];
    // Positions in the object as it was sent, as a JSON Patch needs them: no operation before may add or remove
    // containers.
    const places = placesOf(pod);
    const containers = places.map(({ record }) => record);
    const ranges = limitRanges(workload.namespace);
    // LimitRanges have filled in by now what the template leaves out.
    const templates = [workload.containers, withLimitDefaults(ranges, workload.containers)];
    if (!templates.some((template) => isOfTemplate(containers, template))) return [];
    const ofAll = withAppliedSizes(workload.containers, readAppliedSizes(text));
    const replica = replicaOf(workload, { name: pod.metadata?.name ?? '', nodeName: nodeMeantFor(pod) });
    const own = ofReplicas === undefined ? undefined : readReplicaSizes(ofReplicas, workload.containers);
    const wanted = withReplicaSizes(ofAll, replica === undefined ? undefined : own?.get(replica));
    const changes = effectiveChanges(
      containers,
      wanted.map(({ name, size }) => ({ container: name, to: size })),
    );
    const sized = applyChanges(containers, changes);
    if (changes.length === 0 || areSizesRefused(workload, replica, isDryRun)) return [];
    // A bound that has come since, or a limit that was filled in: with these sizes the pod would be refused, with its own it
    // runs. It is checked with what other webhooks put in, perhaps after this one.
    const whole = ranges.length === 0 ? sized : withInjected(sized, newestLive(podsOf(workload))?.sizing);
    if (limitRangeProblem(ranges, whole) !== undefined || sized.some(isAboveLimit)) return [];
    // A pod of another class would not be one of its workload, and could never be resized back.
    const others = runOnceContainers(pod.spec);
    const qos = qosClassOf(sizesOf([...containers, ...others]));
    if (qosClassOf(sizesOf([...sized, ...others])) !== qos) return [];
    if (isBeyondQuota(workload, subjectOf(pod, qos), sized, containers, isDryRun)) return [];
    const operations = places.flatMap(({ path, container }): JsonPatchOperation[] => {
      const change = changes.find((each) => each.container === container.name);
      if (change === undefined) return [];
      return [{ op: 'add', path: `${path}/resources`, value: mergedResources(container, change.to) }];
    });
    return [...operations, stamp(hasAnnotations)];
  };
}

/**
 * The node that a DaemonSet's controller made the pod for; it binds no pod itself (pkg/controller/daemon/util,
 * ReplaceDaemonSetPodNodeNameNodeAffinity: every term asks for that one node). Undefined where it is not one node.
 */
function nodeMeantFor({ spec }: Pod): string | undefined {
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const names = new Set(
    terms.map(({ matchFields = [] }) => {
      const field = matchFields.find(({ key, operator }) => key === 'metadata.name' && operator === 'In');
      return field?.values?.length === 1 ? field.values[0] : undefined;
    }),
  );
  return spec?.nodeName ?? (names.size === 1 ? [...names][0] : undefined);
}

function subjectOf({ spec }: Pod, qos: QuotaSubject['qos']): QuotaSubject {
  const hasDeadline = typeof spec?.activeDeadlineSeconds === 'number';
  return { qos, priorityClassName: spec?.priorityClassName ?? '', ...(hasDeadline && { hasDeadline }) };
}

type Container = NonNullable<Pod['spec']>['containers'][number];

interface Place {
  readonly path: string;
  readonly container: Container;
  readonly record: ContainerSpecRecord;
}

/** Containers and native sidecars, with where they stand in the object. */
function placesOf({ spec }: Pod): readonly Place[] {
  const place =
    (list: string, isSidecar: boolean) =>
    (container: Container, index: number): Place => ({
      path: `/spec/${list}/${index}`,
      container,
      record: {
        name: container.name,
        isSidecar,
        size: projectSize(container.resources, `spec.${list}[${index}].resources`),
        cpuRestart: 'NotRequired',
        memoryRestart: 'NotRequired',
        hasReadinessProbe: false,
      },
    });
  const sidecars = (spec?.initContainers ?? [])
    .map(place('initContainers', true))
    .filter(({ container }) => container.restartPolicy === 'Always');
  return [...(spec?.containers ?? []).map(place('containers', false)), ...sidecars];
}

/**
 * Whether the pod has the sizes of the template, as the API server completes them: a limit alone is also the request.
 */
function isOfTemplate(containers: readonly ContainerSpecRecord[], template: readonly ContainerSpecRecord[]): boolean {
  return template.every(({ name, size }) => {
    const own = containers.find((container) => container.name === name)?.size;
    if (own === undefined) return false;
    const [wanted, is] = [withDefaultRequests(size), withDefaultRequests(own)];
    return sizeKeys.every((key) => wanted[key] === is[key]);
  });
}

function isAboveLimit({ size }: ContainerSpecRecord): boolean {
  const { cpuRequest = 0, cpuLimit = Infinity, memoryRequest = 0, memoryLimit = Infinity } = size;
  return cpuRequest > cpuLimit || memoryRequest > memoryLimit;
}

const sizesOf = (containers: readonly ContainerSpecRecord[]): ContainerSize[] => containers.map(({ size }) => size);

/** What else the container asks for, such as ephemeral storage or devices, stays. */
function mergedResources({ resources = {} }: Container, to: ContainerSize): object {
  const { requests, limits } = resourcesBody(to);
  return {
    ...resources,
    ...(requests && { requests: { ...resources.requests, ...requests } }),
    ...(limits && { limits: { ...resources.limits, ...limits } }),
  };
}

function stamp(hasAnnotations: boolean): JsonPatchOperation {
  const key = rightsizingKeys.applied;
  return hasAnnotations
    ? { op: 'add', path: `/metadata/annotations/${key.replace('/', '~1')}`, value: 'true' }
    : { op: 'add', path: '/metadata/annotations', value: { [key]: 'true' } };
}
