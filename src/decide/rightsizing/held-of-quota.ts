/** What pods of a workload hold of its namespace's quotas by now. */
import { hasEnded } from '../../model/owners.ts';
import { hasInfeasibleResize, heldRequest } from '../../model/pod-size.ts';
import type { ComputeResources } from '../../model/records.ts';
import type { ContainerSpecRecord } from '../../model/sizing-records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { runningPods } from './pod-drift.ts';

/** Of these containers; what else a pod has, such as the proxy of a mesh, nobody here has a say in. */
export function heldOfQuota(
  pods: readonly SizedPod[],
  containers: readonly Pick<ContainerSpecRecord, 'name'>[],
): ComputeResources {
  let [cpuMillis, memoryBytes] = [0, 0];
  for (const { pod, sizing } of pods) {
    if (hasEnded(pod)) continue;
    const counts = { statuses: sizing.statuses, isInfeasible: hasInfeasibleResize(sizing) };
    for (const container of sizing.containers) {
      if (containers.every(({ name }) => name !== container.name)) continue;
      cpuMillis += heldRequest('cpuRequest', container, counts);
      memoryBytes += heldRequest('memoryRequest', container, counts);
    }
  }
  return { cpuMillis, memoryBytes };
}

/**
 * How many pods share what quotas leave: those that have the size of all, and those that do not run yet.
 * @param alike of the pods, those that have no size of their own.
 */
export function sharersOfQuota(replicas: number, pods: readonly SizedPod[], alike: readonly SizedPod[]): number {
  const running = runningPods(pods).length;
  return Math.max(0, replicas - running) + runningPods(alike).length;
}
