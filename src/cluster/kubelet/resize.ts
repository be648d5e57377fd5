/** Whether a running pod's new requests can be granted on its node (in-place resize, KEP-1287). Pure. */
import type { Pod } from '../../api/core.ts';
import { type Amounts, add, amountsOf, isSameAmounts } from '../pod-requests.ts';
import type { ContainerRuntime, Resources } from './pod-status.ts';

export type ResizeVerdict =
  | { readonly state: 'granted' }
  /** May become possible when others leave. */
  | { readonly state: 'Deferred'; readonly message: string }
  /** Will never be possible on this node. */
  | { readonly state: 'Infeasible'; readonly message: string };

/** One container of a resize. */
export interface WantedResize {
  readonly container: ContainerRuntime;
  readonly resources: Resources;
  /** Granting it restarts the container, by its resize policy for a resource that changes. */
  readonly restarts: boolean;
}

/** The containers whose spec differs from what they hold. */
export function wantedResizes(pod: Pod, containers: readonly ContainerRuntime[]): WantedResize[] {
  return containers.flatMap((container): WantedResize[] => {
    const spec = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])].find(
      ({ name }) => name === container.name,
    );
    const resources = spec?.resources ?? {};
    if (spec === undefined || isSameResources(resources, container.resources)) return [];
    const restarts = (spec.resizePolicy ?? []).some(
      ({ resourceName, restartPolicy }) =>
        restartPolicy === 'RestartContainer' && isChanged(resources, container.resources, resourceName),
    );
    return [{ container, resources, restarts }];
  });
}

/**
 * Messages and order of the checks: pkg/kubelet/allocation/allocation_manager.go `canResizePod`.
 *
 * @param others requests held by the other pods of the node.
 */
export function judgeResize(wanted: Amounts, allocatable: Amounts, others: Amounts): ResizeVerdict {
  for (const [resource, requested] of wanted) {
    const capacity = allocatable.get(resource) ?? 0;
    if (requested > capacity) {
      const message = `Node didn't have enough capacity: ${resource}, requested: ${requested}, capacity: ${capacity}`;
      return { state: 'Infeasible', message };
    }
  }
  for (const [resource, requested] of wanted) {
    const capacity = allocatable.get(resource) ?? 0;
    const used = others.get(resource) ?? 0;
    if (requested + used > capacity) {
      const message = `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${used}, capacity: ${capacity}`;
      return { state: 'Deferred', message };
    }
  }
  return { state: 'granted' };
}

/**
 * Why a Guaranteed pod's CPUs cannot be changed where the CPU manager gives such pods some of their own; undefined where
 * they can. Source: pkg/kubelet/allocation/allocation_manager.go `canResizePod`.
 */
export function pinnedCpuMessage(pod: Pod, wanted: readonly WantedResize[]): string | undefined {
  const changesCpu = wanted.some(({ container, resources }) => isChanged(resources, container.resources, 'cpu'));
  if (pod.status?.qosClass !== 'Guaranteed' || !changesCpu) return undefined;
  return 'Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"';
}

/**
 * Why memory limits cannot be lowered now; undefined when they can. A container that restarts for it gives its memory
 * back, and one that does not run has given it back.
 * Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go `validatePodResizeAction`.
 */
export function memoryInUse(wanted: readonly WantedResize[]): string | undefined {
  const parts = wanted.flatMap(({ container, resources, restarts }) => {
    const limit = amountsOf(resources.limits).get('memory');
    const isLower =
      limit !== undefined && limit < (amountsOf(container.resources.limits).get('memory') ?? Number.POSITIVE_INFINITY);
    const isGivenBack = restarts || container.state.kind !== 'running';
    if (!isLower || isGivenBack || container.memoryBytes <= limit) return [];
    return `attempting to set container "${container.name}" memory limit (${limit}) below current usage (${container.memoryBytes})`;
  });
  return parts.length === 0 ? undefined : `cannot decrease memory limits: [${parts.join(', ')}]`;
}

/** What a pod holds by the node's books. */
export function heldAmounts(containers: readonly ContainerRuntime[]): Amounts {
  return containers.reduce<Amounts>((total, { allocated }) => add(total, amountsOf(allocated)), new Map());
}

/** What a pod would hold once `resizes` are granted. */
export function wantedAmounts(containers: readonly ContainerRuntime[], resizes: readonly WantedResize[]): Amounts {
  return containers.reduce<Amounts>((total, container) => {
    const resize = resizes.find((each) => each.container === container);
    return add(total, amountsOf(resize === undefined ? container.allocated : (resize.resources.requests ?? {})));
  }, new Map());
}

/** By amount, not by text: `0.5` and `500m` are the same request. */
function isSameResources(left: Resources, right: Resources): boolean {
  return (
    isSameAmounts(amountsOf(left.requests), amountsOf(right.requests)) &&
    isSameAmounts(amountsOf(left.limits), amountsOf(right.limits))
  );
}

function isChanged(left: Resources, right: Resources, resource: string): boolean {
  return (
    amountsOf(left.requests).get(resource) !== amountsOf(right.requests).get(resource) ||
    amountsOf(left.limits).get(resource) !== amountsOf(right.limits).get(resource)
  );
}
