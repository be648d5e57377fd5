/** Resource lists of the API -> {@link ContainerSize}. */
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
