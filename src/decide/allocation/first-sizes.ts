/** What the containers of a pod had before allocation changed any of them. */
import { sizingKeys } from '../../api/annotations-sizing.ts';
import { parseOriginals } from '../../model/original-sizes.ts';
import type { ContainerSize } from '../../model/sizing-records.ts';
import type { AllocationPod } from './allocation-pod.ts';

/** By container, as its annotation says; what they have now, where there is none or it cannot be read. */
export function firstSizes({
  containers,
  marks,
}: Pick<AllocationPod, 'containers' | 'marks'>): ReadonlyMap<string, ContainerSize> {
  const text = marks[sizingKeys.allocationOriginals];
  const originals = text === undefined ? undefined : parseOriginals(text);
  return originals ?? new Map(containers.map(({ name, size }) => [name, size]));
}
