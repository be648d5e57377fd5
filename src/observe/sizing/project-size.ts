/** Resource lists of the API -> {@link ContainerSize}. */
import type { Pod } from '../../api/core.ts';
import type { ContainerSize } from '../../model/sizing-records.ts';
import { cpu, memory } from '../fields.ts';

/** `resources` of a container, in its spec or its status. */
export interface ApiResources {
  readonly requests?: ApiAmounts | null;
  readonly limits?: ApiAmounts | null;
}

/** Quantities by resource; whatever stands there is checked as it is read. */
export type ApiAmounts = Readonly<Record<string, unknown>>;

/** @throws InvalidValueError when an amount is not a quantity. */
export function projectSize(resources: ApiResources | undefined | null, field: string): ContainerSize {
  const { requests, limits } = resources ?? {};
  const cpuRequest = cpu(requests?.['cpu'], `${field}.requests.cpu`);
  const cpuLimit = cpu(limits?.['cpu'], `${field}.limits.cpu`);
  const memoryRequest = memory(requests?.['memory'], `${field}.requests.memory`);
  const memoryLimit = memory(limits?.['memory'], `${field}.limits.memory`);
  return {
    ...(cpuRequest !== undefined && { cpuRequest }),
    ...(cpuLimit !== undefined && { cpuLimit }),
    ...(memoryRequest !== undefined && { memoryRequest }),
    ...(memoryLimit !== undefined && { memoryLimit }),
  };
}

/** `allocatedResources`: requests only. @throws InvalidValueError when an amount is not a quantity. */
export function projectRequests(requests: ApiAmounts, field: string): ContainerSize {
  return projectSize({ requests }, field);
}

/** Limits or requests of the whole pod, which those of its containers must stay within. */
export function hasPodLevelResources(spec: Pod['spec']): boolean {
  const resources = podResources(spec);
  return [resources?.requests, resources?.limits].some((list) => Object.keys(list ?? {}).length > 0);
}

/** `spec.resources` (KEP-2837) is newer than the published types. */
function podResources(spec: Pod['spec']): ApiResources | undefined {
  const fields: object = spec ?? {};
  return 'resources' in fields && typeof fields.resources === 'object' && fields.resources !== null
    ? fields.resources
    : undefined;
}
