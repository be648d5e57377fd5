/** Pods whose side was chosen when they were made, by neither their template nor Stowage. */
import type { PodRecord, Side } from '../../model/records.ts';
import type { Sides } from '../../model/sides.ts';

/**
 * The side that the node selector of a namespace, a RuntimeClass or another webhook pins the pod to; undefined where
 * none does. Its replacement would be pinned alike: an eviction for nothing, again and again (hazard H17).
 */
export function foreignPin(sides: Sides, { pinned, template }: PodRecord): Side | undefined {
  const side = pinned === true ? sides.pinnedSide(template) : 'free';
  return side === 'spot' || side === 'on-demand' ? side : undefined;
}
