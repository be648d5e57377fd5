/**
 * Integration 4, LimitRange: the box that admission holds every resize to. All objects of the namespace apply at once;
 * their defaults do not (they are not injected on a resize), and requests and limits are both held to min and max.
 */

import type { Millicores } from '../../../lib/units.ts';
import { sumOf } from '../../../model/pod-size.ts';
import { allowedRange } from '../../../model/size-bounds.ts';
import type { ContainerSpecRecord, LimitRangeRecord } from '../../../model/sizing-records.ts';
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

/**
 * Beside limits that stay a request cannot be less than their ratio allows. What a pod has to keep for that must not be
 * counted on by others: they would wait for it for ever.
 */
export function ratioBounds(
  ranges: readonly LimitRangeRecord[],
  containers: readonly Pick<ContainerSpecRecord, 'size'>[],
): Bound[] {
  const leastOf = (limit: Millicores, type: LimitRangeRecord['type']): Millicores =>
    Math.ceil(limit / allowedRange(ranges, type, 'cpu').maxRatio);
  const ofContainers = containers.reduce((sum, { size }) => sum + leastOf(size.cpuLimit ?? 0, 'Container'), 0);
  const min = Math.max(ofContainers, leastOf(sumOf(containers, 'cpuLimit'), 'Pod'));
  return min === 0 ? [] : [{ layer: 'hard', reason: 'LimitRatio', min }];
}

/** The most that limits can add up to beside requests that stay; Infinity: anything. */
export function mostBesideRequests(
  ranges: readonly LimitRangeRecord[],
  containers: readonly Pick<ContainerSpecRecord, 'size'>[],
): Millicores {
  const mostOf = (request: Millicores, type: LimitRangeRecord['type']): Millicores => {
    const { maxRatio } = allowedRange(ranges, type, 'cpu');
    return Number.isFinite(maxRatio) ? Math.floor(maxRatio * request) : Number.POSITIVE_INFINITY;
  };
  const ofContainers = containers.reduce((sum, { size }) => sum + mostOf(size.cpuRequest ?? 0, 'Container'), 0);
  return Math.min(ofContainers, mostOf(sumOf(containers, 'cpuRequest'), 'Pod'));
}

/** Where limits follow the share, their ratio is kept by them. */
export function besideLimit(bounds: readonly Bound[], isLimitKept: boolean): readonly Bound[] {
  return isLimitKept ? bounds : bounds.filter(({ reason }) => reason !== 'LimitRatio');
}
