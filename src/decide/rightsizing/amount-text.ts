/** CPU and memory as Kubernetes prints them: `3`, `2400m`, `512Mi`, `88617123`. Memory never ends in `m`. */
import { formatQuantity, fromBytes, fromMillicores } from '../../lib/quantity.ts';
import type { Bytes, Millicores } from '../../lib/units.ts';

export type ResourceName = 'cpu' | 'memory';

export function formatCpu(millicores: Millicores): string {
  return formatQuantity(fromMillicores(Math.round(millicores)));
}

/** Fractions of a byte are rounded up: whoever needs a little gets a little. */
export function formatMemory(bytes: Bytes): string {
  return formatQuantity(fromBytes(Math.ceil(bytes)));
}

export function formatAmount(resource: ResourceName, value: number): string {
  return resource === 'cpu' ? formatCpu(value) : formatMemory(value);
}
