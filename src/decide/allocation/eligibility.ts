/** Which pods take part: everything else keeps what it has and is subtracted from the node's capacity. */
import { type AllocationPod, actualSizeOf, sizeOf } from './allocation-pod.ts';
import { firstSizes } from './first-sizes.ts';
import { isSystemCritical } from './integrations/priority-class.ts';
import type { Managed, PodMarks } from './marks.ts';
import type { AllocationRules } from './rules.ts';

/** In about the order they are asked; the first that applies is told. */
export const exclusionReasons = [
  'NotRunning',
  'Terminating',
  'Excluded',
  'NotOptedIn',
  'StaticPod',
  'SystemCritical',
  'Windows',
  'BestEffort',
  'GuaranteedQoS',
  'ExclusiveCpus',
  'PodLevelResources',
  'RestartPolicy',
  'ResizeUnsupported',
  'NoRequest',
  'HpaOff',
  'ForeignWriter',
  'VpaOwned',
  'RestartedOnResize',
] as const;

export type ExclusionReason = (typeof exclusionReasons)[number];

/** Their owners said so; others that are kept out (another writer, a restart) keep what they have. */
export const optedOut: ReadonlySet<ExclusionReason> = new Set(['Excluded', 'NotOptedIn', 'GuaranteedQoS', 'HpaOff']);

/** What only somebody with a wider view or a memory can know. Nothing given: none of it holds. */
export interface PodHistory {
  /** The label or annotation `mbcas.io/managed` of the namespace; the pod's own wins. */
  readonly namespaceManaged?: Managed | undefined;
  /** Somebody else wrote the CPU of this pod since we did. */
  readonly hasForeignWriter?: boolean;
  /** A VerticalPodAutoscaler that acts on CPU targets the workload. */
  readonly isVpaOwned?: boolean;
  /** A container restarted right after a resize of ours. */
  readonly restartedOnResize?: boolean;
  /** The node's CPU manager has CPUs to pin: there the kubelet resizes no Guaranteed pod. */
  readonly hasStaticCpuManager?: boolean;
}

/** Undefined: the pod takes part. */
export function exclusionOf(
  pod: AllocationPod,
  marks: PodMarks,
  history: PodHistory,
  rules: AllocationRules,
): ExclusionReason | undefined {
  if (pod.terminating) return 'Terminating';
  if (pod.phase !== 'Running') return 'NotRunning';
  if (rules.excludedNamespaces.includes(pod.namespace)) return 'Excluded';
  const managed = marks.managed ?? history.namespaceManaged;
  if (managed === 'false') return 'Excluded';
  if (managed !== 'true' && rules.managementMode === 'optIn') return 'NotOptedIn';
  if (pod.isStatic) return 'StaticPod';
  // Never taken from, and never grown: growth of a critical pod can make the kubelet evict others.
  if (isSystemCritical(pod.priority)) return 'SystemCritical';
  if (pod.os === 'windows') return 'Windows';
  if (pod.qos === 'BestEffort') return 'BestEffort';
  if (pod.hasPodLevelResources) return 'PodLevelResources';
  if (pod.qos === 'Guaranteed') {
    if (!marks.managesGuaranteed) return 'GuaranteedQoS';
    const { hasStaticCpuManager } = history;
    if (hasStaticCpuManager ?? hasWholeCpus(pod)) return 'ExclusiveCpus';
  }
  if (marks.hpaMode === 'off') return 'HpaOff';
  if (pod.containers.some(({ cpuRestart }) => cpuRestart === 'RestartContainer')) return 'RestartPolicy';
  if (sizeOf(pod).request === 0) return 'NoRequest';
  // A kubelet that can resize reports resources of every running container.
  if (actualSizeOf(pod) === undefined) return 'ResizeUnsupported';
  if (history.isVpaOwned === true) return 'VpaOwned';
  if (history.hasForeignWriter === true) return 'ForeignWriter';
  if (history.restartedOnResize === true) return 'RestartedOnResize';
  return undefined;
}

/**
 * Such containers get CPUs of their own under the static CPU manager, and nobody knows of a node whether it has that
 * before it has refused a resize (KEP-1287). Who came with a part of a CPU has none, whatever it has come to.
 */
function hasWholeCpus(pod: AllocationPod): boolean {
  return [...firstSizes(pod).values()].some(({ cpuRequest = 0 }) => cpuRequest > 0 && cpuRequest % 1000 === 0);
}
