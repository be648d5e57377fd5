/**
 * Integration 4, LimitRange: the box that admission holds every resize to. All objects of the namespace apply at once;
 * their defaults do not (they are not injected on a resize), and requests and limits are both held to min and max.
 */

import { allowedRange } from '../../../model/size-bounds.ts';
import type { LimitRangeRecord } from '../../../model/sizing-records.ts';
import type { Bound } from '../bounds.ts';

/** Bounds of the pod's share. `undefined`: the rules contradict each other, so nothing can be written at all. */
export function limitRangeBound(
  ranges: readonly LimitRangeRecord[],
  containers: number,
  requestRatio: number,
): Bound | undefined {
  const container = allowedRange(ranges, 'Container', 'cpu');
  const pod = allowedRange(ranges, 'Pod', 'cpu');
  const min = Math.max(containers * container.min, pod.min) / requestRatio;
  const max = Math.min(containers * container.max, pod.max);
  if (container.min > container.max || min > max) return undefined;
  return { layer: 'hard', reason: 'LimitRange', min: Math.ceil(min), max };
}
