/** What pods of a workload hold of its namespace's quotas by now, and what they are yet to take. */

import type { EpochMillis } from '../../lib/units.ts';
import { awaitedOf, type BornSizes } from '../../model/awaited-pods.ts';
import { hasEnded, isLive } from '../../model/owners.ts';
import { hasInfeasibleResize, heldRequest, sizeKeys, sizeOfContainer } from '../../model/pod-size.ts';
import { mostOfAll, type ReplicaStates, stateOfPod, withReplicaSizes } from '../../model/replica-sizes.ts';
import { addUse, noUse, type QuotaUse, quotaUse } from '../../model/size-bounds.ts';
import type { ContainerSpecRecord, PodSizing, SizedWorkload } from '../../model/sizing-records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import type { PromisedUse } from './joint-fit.ts';
import { runningPods } from './pod-drift.ts';

/** Of these containers; what else a pod has, such as the proxy of a mesh, nobody here has a say in. */
export function heldOfQuota(
  pods: readonly SizedPod[],
  containers: readonly Pick<ContainerSpecRecord, 'name'>[],
): QuotaUse {
  let sum = noUse;
  for (const { pod, sizing } of pods) {
    if (hasEnded(pod)) continue;
    for (const container of sizing.containers) {
      if (containers.some(({ name }) => name === container.name)) sum = addUse(sum, heldBy(container, sizing));
    }
  }
  return sum;
}

function heldBy(container: ContainerSpecRecord, sizing: PodSizing): QuotaUse {
  const counts = { statuses: sizing.statuses, isInfeasible: hasInfeasibleResize(sizing) };
  return quotaUse((key) => heldRequest(key, container, counts));
}

/**
 * How many pods share what quotas leave: those that have the size of all, and those that do not run yet.
 * @param alike of the pods, those that have no size of their own.
 */
export function sharersOfQuota(replicas: number, pods: readonly SizedPod[], alike: readonly SizedPod[]): number {
  const running = runningPods(pods).length;
  return Math.max(0, replicas - running) + runningPods(alike).length;
}

/** A workload that is being sized, and what its pods are to have. */
export interface SizesPromised {
  readonly workload: SizedWorkload;
  /** Whoever has no size of its own is to have these. */
  readonly sizes: readonly ContainerSpecRecord[];
  readonly states: ReplicaStates;
  /** The allocation engine shares out the CPU of this pod: what it has less than is in force, others have more. */
  readonly isAllocated: (pod: SizedPod) => boolean;
  readonly now: EpochMillis;
}

/** How much more its pods will take of quotas than they hold now, once all have what they are to have. */
export function yetToTake(promised: SizesPromised, pods: readonly SizedPod[]): PromisedUse {
  const { workload, sizes, states, now } = promised;
  const born: BornSizes = {
    states: () => states,
    enoughFor: (absent) => mostOfAll(sizes, absent),
    asTemplate: () => workload.containers,
  };
  let growth = noUse;
  for (const each of pods) {
    const more = podYetToTake(promised, each);
    if (more !== noUse) growth = addUse(growth, more);
  }
  return {
    growth,
    awaited: awaitedOf(workload, pods, born, { isGoing: () => false, now }),
    like: pods.find(({ pod }) => isLive(pod))?.sizing,
  };
}

/** Of one pod, by a resize or by being replaced; `noUse` where it is on its way out, or has it all. */
export function podYetToTake(
  { workload, sizes, states, isAllocated }: Omit<SizesPromised, 'now'>,
  each: SizedPod,
): QuotaUse {
  const { pod, sizing } = each;
  if (!isLive(pod)) return noUse;
  const wanted = states.size === 0 ? sizes : withReplicaSizes(sizes, stateOfPod(states, workload, pod));
  const isGranted = !hasInfeasibleResize(sizing);
  let sum = noUse;
  for (const container of sizing.containers) {
    const to = sizeOfContainer(wanted, container.name) ?? {};
    // Nearly always, and of ten thousand pods.
    if (isGranted && sizeKeys.every((key) => (to[key] ?? 0) <= (container.size[key] ?? 0))) continue;
    const held = heldBy(container, sizing);
    const more = quotaUse((key) => Math.max(0, (to[key] ?? 0) - held[key]));
    sum = addUse(sum, more);
  }
  return sum !== noUse && isAllocated(each) ? { ...sum, cpuRequest: 0, cpuLimit: 0 } : sum;
}
