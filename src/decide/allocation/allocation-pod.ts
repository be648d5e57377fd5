/** A pod as allocation sees it, and what it has: requested, limited, and charged against the node. */
import type { EpochMillis, Millicores } from '../../lib/units.ts';
import { applyChanges, hasInfeasibleResize, heldRequest, type SizeChange, sumOf } from '../../model/pod-size.ts';
import type { PodPhase } from '../../model/records.ts';
import type { ContainerSize, PodSizing } from '../../model/sizing-records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';

/** Node agents fill it from the pod itself, the operator from its view. Labels count as marks where they begin with `mbcas.io/`. */
export interface AllocationPod extends PodSizing {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly phase: PodPhase;
  readonly ready: boolean;
  readonly readyChangedAt: EpochMillis | undefined;
  readonly startedAt: EpochMillis;
  readonly terminating: boolean;
  /** CPU of what has no container record: overhead, and run-once init containers beyond the others. */
  readonly overhead: Millicores;
}

/** Sums over containers and sidecars. */
export interface CpuSize {
  readonly request: Millicores;
  /** Undefined where some container has no limit: the pod has no quota then. */
  readonly limit: Millicores | undefined;
}

/** From the operator's record. The pod started when the last of its containers did: a restart is a start for whoever waits for it. */
export function allocationPodOf({ pod, sizing }: SizedPod): AllocationPod {
  const own = sumOf(sizing.containers, 'cpuRequest');
  const { qos, containers, statuses, hasPodLevelResources, isStatic, os, priority, priorityClassName } = sizing;
  const { hasDeadline, resize, generation, observedGeneration, marks, sizeManagers } = sizing;
  return {
    // One by one: the record may compute them, and a spread would copy none.
    qos,
    containers,
    statuses,
    hasPodLevelResources,
    isStatic,
    os,
    priority,
    priorityClassName,
    hasDeadline,
    resize,
    generation,
    observedGeneration,
    marks,
    sizeManagers,
    uid: pod.uid,
    namespace: pod.namespace,
    name: pod.name,
    phase: pod.phase,
    ready: pod.ready,
    readyChangedAt: pod.readyChangedAt,
    startedAt: startOf(sizing) ?? pod.createdAt,
    terminating: pod.deletingAt !== undefined,
    overhead: Math.max(0, pod.template.requests.cpuMillis - own),
  };
}

/** By the spec: what was asked for last, whether or not the node has granted it. */
export function sizeOf(pod: Pick<PodSizing, 'containers'>): CpuSize {
  return totalOf(pod.containers.map(({ size }) => size));
}

/** Of containers with these sizes together. */
export function totalOf(sizes: readonly ContainerSize[]): CpuSize {
  const hasLimits = sizes.length > 0 && sizes.every(({ cpuLimit }) => cpuLimit !== undefined);
  return {
    request: sizes.reduce((sum, { cpuRequest }) => sum + (cpuRequest ?? 0), 0),
    limit: hasLimits ? sizes.reduce((sum, { cpuLimit }) => sum + (cpuLimit ?? 0), 0) : undefined,
  };
}

/**
 * The request of a whole pod after a resize, which names only the containers it changes. Undefined where it changes no
 * request.
 */
export function requestWith(
  containers: AllocationPod['containers'],
  changes: readonly SizeChange[] = [],
): Millicores | undefined {
  if (changes.every(({ to }) => to.cpuRequest === undefined)) return undefined;
  return sumOf(applyChanges(containers, changes), 'cpuRequest');
}

/** What the scheduler and the kubelet charge the pod with: what its containers hold ({@link heldRequest}), and the overhead. */
export function chargedCpu(pod: AllocationPod): Millicores {
  const counts = { statuses: pod.statuses, isInfeasible: hasInfeasibleResize(pod) };
  return pod.containers.reduce((sum, container) => sum + heldRequest('cpuRequest', container, counts), pod.overhead);
}

/** CPU of every container as the kubelet has it; undefined where it does not say: then it cannot resize either. */
export function actualSizeOf(pod: Pick<PodSizing, 'containers' | 'statuses'>): CpuSize | undefined {
  const sizes: ContainerSize[] = [];
  for (const { name } of pod.containers) {
    const actual = pod.statuses.find((status) => status.name === name)?.actual;
    if (actual === undefined) return undefined;
    sizes.push(actual);
  }
  return totalOf(sizes);
}

function startOf({ statuses }: PodSizing): EpochMillis | undefined {
  const starts = statuses.map(({ startedAt }) => startedAt).filter((start) => start !== undefined);
  return starts.length === 0 ? undefined : Math.max(...starts);
}
