/** What allocation looks at, out of a dump or a cluster: what agents asked for, and what pods use by the Metrics API. */

import type { KubeObject } from '../../api/core.ts';
import { type PodAllocation, podAllocations } from '../../api/pod-allocation.ts';
import { apiVersionOf } from '../../api/resources.ts';
import { memberOf } from '../../lib/is-record.ts';
import { tryParseMillicores } from '../../lib/quantity.ts';
import type { Millicores } from '../../lib/units.ts';
import { type PodMetrics, podMetricsType } from '../../observe/usage/metrics-server-source.ts';

/** As found in the input: nothing in it says that an agent is still alive. */
export interface AllocationInput {
  /** By the uid of the pod; those of MBCAS itself, which name none, by `namespace/name`. */
  readonly allocations: ReadonlyMap<string, PodAllocation>;
  /** CPU of each container, by `namespace/name` of the pod. */
  readonly usage: ReadonlyMap<string, readonly ContainerUsage[]>;
}

export interface ContainerUsage {
  readonly name: string;
  readonly usage: Millicores;
}

export interface AllocationInputBuilder {
  /** False for objects that others may have a use for. */
  add(object: KubeObject): boolean;
  build(): AllocationInput;
}

/** The types listed for allocation beside those of placement. A cluster without them has none. */
export const allocationTypes = [podAllocations, podMetricsType] as const;

export function createAllocationInputBuilder(): AllocationInputBuilder {
  const allocations = new Map<string, PodAllocation>();
  const usage = new Map<string, readonly ContainerUsage[]>();
  return {
    add(object) {
      if (isAllocation(object)) {
        const { spec } = object;
        if (spec !== undefined) allocations.set(spec.podUID ?? `${spec.namespace}/${spec.podName}`, object);
        return true;
      }
      if (!isMetrics(object)) return false;
      const { metadata = {}, containers } = object;
      usage.set(`${metadata.namespace ?? ''}/${metadata.name ?? ''}`, readContainers(containers));
      return true;
    },
    build: () => ({ allocations, usage }),
  };
}

const isAllocation = (object: KubeObject): object is PodAllocation => isOf(object, podAllocations);
const isMetrics = (object: KubeObject): object is PodMetrics => isOf(object, podMetricsType);
const isOf = ({ apiVersion, kind }: KubeObject, type: (typeof allocationTypes)[number]): boolean =>
  apiVersion === apiVersionOf(type) && kind === type.kind;

/** Checked as it is read: a container without a usable figure counts as not measured. */
function readContainers(containers: unknown): readonly ContainerUsage[] {
  if (!Array.isArray(containers)) return [];
  return containers.flatMap((each: unknown): ContainerUsage[] => {
    const name = memberOf(each, 'name');
    const usage = tryParseMillicores(memberOf(memberOf(each, 'usage'), 'cpu'));
    return typeof name === 'string' && usage !== undefined ? [{ name, usage }] : [];
  });
}
