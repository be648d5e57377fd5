/** Pod -> {@link PodSizing}: what resizing it depends on. */
import type { Pod } from '../../api/core.ts';
import { qosClassOf } from '../../model/pod-size.ts';
import type { Labels } from '../../model/records.ts';
import type { ContainerStatusRecord, PodSizing, QosClass, ResizeState } from '../../model/sizing-records.ts';
import { countOr, instant, listOf, textMap, textOr } from '../fields.ts';
import { compactPodSizing, type SharedSizing, type ToldSizing } from './compact-pod-sizing.ts';
import { projectContainers } from './project-containers.ts';
import {
  type ApiAmounts,
  type ApiResources,
  hasPodLevelResources,
  projectRequests,
  projectSize,
} from './project-size.ts';
import { resizeManagers } from './resource-managers.ts';
import type { SizingInterners } from './sizing-interners.ts';

type PodStatus = NonNullable<Pod['status']>;

/** Fields newer than the published types (KEP-1287, KEP-5067). */
interface ResizableStatus {
  readonly observedGeneration?: number;
  /** Before 1.33, where conditions say it now. */
  readonly resize?: string;
}
type ApiContainerStatus = NonNullable<PodStatus['containerStatuses']>[number] & {
  readonly allocatedResources?: ApiAmounts;
  readonly resources?: ApiResources;
};
type Condition = NonNullable<PodStatus['conditions']>[number];

/** @throws InvalidValueError (or TypeError for a wrong shape) when the object cannot be read. */
export function projectPodSizing(pod: Pod, interners: SizingInterners): PodSizing {
  const { metadata = {}, spec } = pod;
  const status: (PodStatus & ResizableStatus) | undefined = pod.status;
  const annotations = textMap(metadata.annotations, 'metadata.annotations');
  const containers = projectContainers(spec);
  const statuses = [
    ...listOf<ApiContainerStatus>(status?.containerStatuses, 'status.containerStatuses'),
    ...listOf<ApiContainerStatus>(status?.initContainerStatuses, 'status.initContainerStatuses'),
  ].filter(({ name }) => containers.some((container) => container.name === name));
  const observed = status?.observedGeneration;
  const shared: SharedSizing = {
    qos: readQos(status?.qosClass) ?? qosClassOf(containers.map(({ size }) => size)),
    containers: containers.map(({ size: _size, ...shape }) => shape),
    hasPodLevelResources: hasPodLevelResources(spec),
    isStatic:
      annotations['kubernetes.io/config.mirror'] !== undefined ||
      listOf(metadata.ownerReferences, 'metadata.ownerReferences').some(({ kind }) => kind === 'Node'),
    os: osOf(spec) === 'windows' ? 'windows' : 'linux',
    priority: spec?.priority ?? 0,
    priorityClassName: textOr(spec?.priorityClassName, '', 'spec.priorityClassName'),
    ...(!isAbsent(spec?.activeDeadlineSeconds) && { hasDeadline: true }),
    marks: marksOf(annotations, textMap(metadata.labels, 'metadata.labels')),
    sizeManagers: resizeManagers(metadata.managedFields),
  };
  const told: ToldSizing = {
    shared,
    statuses: statuses.map((each) => projectStatus(each, spec?.restartPolicy === 'Never')),
    resize: projectResize(status),
    sizes: containers.map(({ size }) => size),
    generation: countOr(metadata.generation, 0, 'metadata.generation'),
    observedGeneration: observed === undefined ? undefined : countOr(observed, 0, 'status.observedGeneration'),
  };
  return compactPodSizing(told, interners);
}

/**
 * Annotations and labels by which the sizing engines talk to people and to each other. An annotation beats a label of
 * the same key.
 */
export function marksOf(annotations: Labels, labels: Labels = {}): Labels {
  const marks: Record<string, string> = {};
  for (const [key, value] of Object.entries(annotations)) if (isMark(key)) marks[key] = value;
  for (const [key, value] of Object.entries(labels)) if (key.startsWith('mbcas.io/')) marks[key] ??= value;
  return marks;
}

/** Of placement, when a workload may be disrupted: that holds for every engine. */
const marked = ['optipod.io/', 'mbcas.io/', 'spotalis.io/disruption-'];

function isMark(key: string): boolean {
  return marked.some((prefix) => key.startsWith(prefix));
}

/**
 * `actual` and `allocated` are undefined where the kubelet does not report them, by which one that cannot resize is
 * known.
 * @param isOnce it is never started again, as in the pods of many Jobs: its end is no last state, it lasts. Of these only
 * kills for want of memory are kept, as there are thousands of pods that have done their work.
 */
function projectStatus(status: ApiContainerStatus, isOnce: boolean): ContainerStatusRecord {
  const { name, allocatedResources, resources, state } = status;
  const killed = isOnce && state?.terminated?.reason === 'OOMKilled' ? state.terminated : undefined;
  const ended = status.lastState?.terminated ?? killed;
  return {
    name,
    running: state?.running !== undefined && state.running !== null,
    ready: status.ready === true,
    startedAt: instant(state?.running?.startedAt, `container ${name} startedAt`),
    restartCount: countOr(status.restartCount, 0, `container ${name} restartCount`),
    lastTermination:
      ended === undefined || ended === null
        ? undefined
        : {
            reason: textOr(ended.reason, '', `container ${name} reason`),
            exitCode: ended.exitCode ?? 0,
            finishedAt: instant(ended.finishedAt, `container ${name} finishedAt`),
          },
    actual: isAbsent(resources) ? undefined : projectSize(resources, `container ${name} resources in status`),
    allocated: isAbsent(allocatedResources)
      ? undefined
      : projectRequests(allocatedResources, `container ${name} allocatedResources`),
  };
}

/**
 * Conditions since 1.33, `status.resize` before (KEP-1287). Both may stand at once: one resize is under way while a
 * later one waits.
 */
function projectResize(status: (PodStatus & ResizableStatus) | undefined): ResizeState {
  const conditions = listOf(status?.conditions, 'status.conditions').filter((condition) => condition.status === 'True');
  const pending = conditions.find(({ type }) => type === 'PodResizePending');
  const running = conditions.find(({ type }) => type === 'PodResizeInProgress');
  const older = status?.resize;
  return {
    pending:
      pending !== undefined
        ? {
            reason: pending.reason === 'Infeasible' ? 'Infeasible' : 'Deferred',
            message: pending.message ?? '',
            since: sinceOf(pending),
          }
        : older === 'Deferred' || older === 'Infeasible'
          ? { reason: older, message: '', since: undefined }
          : undefined,
    inProgress:
      running !== undefined
        ? { error: running.reason === 'Error' ? (running.message ?? '') : undefined, since: sinceOf(running) }
        : older === 'InProgress' || older === 'Proposed'
          ? { error: undefined, since: undefined }
          : undefined,
  };
}

function sinceOf(condition: Condition): number | undefined {
  return instant(condition.lastTransitionTime, `status.conditions[${condition.type}].lastTransitionTime`);
}

function readQos(value: unknown): QosClass | undefined {
  return value === 'Guaranteed' || value === 'Burstable' || value === 'BestEffort' ? value : undefined;
}

/** A pod that says nothing may still only fit Windows nodes. */
function osOf(spec: Pod['spec']): string | undefined {
  const { os }: { readonly os?: { readonly name?: string } } = spec ?? {};
  return os?.name ?? spec?.nodeSelector?.['kubernetes.io/os'];
}

function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}
