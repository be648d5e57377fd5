/** What pods of a workload hold of its namespace's quotas by now. */
import { hasEnded } from '../../model/owners.ts';
import { hasInfeasibleResize, heldRequest } from '../../model/pod-size.ts';
import type { ComputeResources } from '../../model/records.ts';
import type { ContainerSpecRecord } from '../../model/sizing-records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';

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
