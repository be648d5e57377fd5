/** Pods whose side was chosen when they were made, by neither their template nor Stowage. */
import type { PodRecord, Side } from '../../model/records.ts';
import type { Sides } from '../../model/sides.ts';

/**
 * The side that the node selector of a namespace, a RuntimeClass or another webhook pins the pod to; undefined where
 * none does. Its replacement would be pinned alike: an eviction for nothing, again and again (hazard H17). A webhook that
 * comes after Stowage's shows in a pin to the other side than that of the stamp.
 */
export function foreignPin(sides: Sides, { pinned, capacity, template }: PodRecord): Side | undefined {
  const side = sides.pinnedSide(template);
  if (side !== 'spot' && side !== 'on-demand') return undefined;
  const isOverruled = capacity !== undefined && capacity !== side;
  return pinned === true || isOverruled ? side : undefined;
}
