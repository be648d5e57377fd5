/**
 * What pods have beside the containers of their template: those that a webhook adds, such as the proxy of a mesh, and what
 * a runtime class takes. Nobody here has a say in it, and a pod has to fit with it.
 */
import { isLive } from '../../model/owners.ts';
import { sumOf } from '../../model/pod-size.ts';
import type { ComputeResources } from '../../model/records.ts';
import { noUse, type QuotaUse, quotaUse } from '../../model/size-bounds.ts';
import type { ContainerSpecRecord } from '../../model/sizing-records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { heldOfQuota } from './held-of-quota.ts';

export interface BesideContainers {
  /** Of other containers alone, as LimitRanges of type Pod count them. */
  readonly sizes: QuotaUse;
  /** Of its node: overhead as well, and what run-once init containers ask for beyond all that run after them. */
  readonly ofNode: ComputeResources;
}

export const nothingBeside: BesideContainers = { sizes: noUse, ofNode: { cpuMillis: 0, memoryBytes: 0 } };

/** The most that any of the pods has. @param containers of the template. */
export function besideContainers(
  pods: readonly SizedPod[],
  containers: readonly Pick<ContainerSpecRecord, 'name'>[],
): BesideContainers {
  return pods.reduce(({ sizes, ofNode }, each) => {
    const { pod, sizing } = each;
    if (!isLive(pod)) return { sizes, ofNode };
    const others = sizing.containers.filter(({ name }) => !containers.some((own) => own.name === name));
    const held = heldOfQuota([each], containers);
    const { cpuMillis, memoryBytes } = pod.template.requests;
    return {
      sizes: quotaUse((key) => Math.max(sizes[key], sumOf(others, key))),
      ofNode: {
        cpuMillis: Math.max(ofNode.cpuMillis, cpuMillis - held.cpuRequest),
        memoryBytes: Math.max(ofNode.memoryBytes, memoryBytes - held.memoryRequest),
      },
    };
  }, nothingBeside);
}
