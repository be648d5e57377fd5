/**
 * Integration 4, LimitRange: the box that admission holds every resize to. All objects of the namespace apply at once;
 * their defaults do not (they are not injected on a resize), and requests and limits are both held to min and max.
 */

import type { Millicores } from '../../../lib/units.ts';
import { sumOf } from '../../../model/pod-size.ts';
import type { ContainerSpecRecord, LimitRangeRecord } from '../../../model/sizing-records.ts';
import type { Bound } from '../bounds.ts';

export interface CpuRange {
  readonly lo: Millicores;
  readonly hi: Millicores;
  /** Largest limit by request; Infinity: any. */
  readonly ratio: number;
}

/** Of several LimitRanges each must be met. */
export function cpuRange(ranges: readonly LimitRangeRecord[], type: 'Container' | 'Pod'): CpuRange {
  const own = ranges.filter((range) => range.type === type);
  return {
    lo: Math.max(0, ...own.map(({ min }) => min.cpu ?? 0)),
    hi: Math.min(...own.map(({ max }) => max.cpu ?? Number.POSITIVE_INFINITY), Number.POSITIVE_INFINITY),
    ratio: Math.min(
      ...own.map(({ maxLimitRequestRatio }) => maxLimitRequestRatio.cpu ?? Number.POSITIVE_INFINITY),
      Number.POSITIVE_INFINITY,
    ),
  };
}

/** Bounds of the pod's share. `undefined`: the rules contradict each other, so nothing can be written at all. */
export function limitRangeBound(
  ranges: readonly LimitRangeRecord[],
  containers: number,
  requestRatio: number,
): Bound | undefined {
  const container = cpuRange(ranges, 'Container');
  const pod = cpuRange(ranges, 'Pod');
  const min = Math.max(containers * container.lo, pod.lo) / requestRatio;
  const max = Math.min(containers * container.hi, pod.hi);
  if (container.lo > container.hi || min > max) return undefined;
  return { layer: 'hard', reason: 'LimitRange', min: Math.ceil(min), max };
}

/** The first rule that containers break as they are, in words; admission then refuses every resize of the pod (k/k#142171). */
export function limitRangeViolation(
  ranges: readonly LimitRangeRecord[],
  containers: readonly ContainerSpecRecord[],
): string | undefined {
  const range = cpuRange(ranges, 'Container');
  for (const { name, size } of containers) {
    const broken = violationOf(range, size.cpuRequest, size.cpuLimit);
    if (broken !== undefined) return `container ${name}: ${broken}`;
  }
  const total = (key: 'cpuRequest' | 'cpuLimit'): Millicores | undefined =>
    containers.some(({ size }) => size[key] === undefined) ? undefined : sumOf(containers, key);
  const broken = violationOf(cpuRange(ranges, 'Pod'), total('cpuRequest'), total('cpuLimit'));
  return broken === undefined ? undefined : `pod: ${broken}`;
}

function violationOf(
  { lo, hi, ratio }: CpuRange,
  request: number | undefined,
  limit: number | undefined,
): string | undefined {
  if (lo > 0 && (request === undefined || request < lo)) return `request ${say(request)} is below the least ${lo}m`;
  if (lo > 0 && limit !== undefined && limit < lo) return `limit ${limit}m is below the least ${lo}m`;
  if (Number.isFinite(hi) && (limit === undefined || limit > hi)) return `limit ${say(limit)} is above the most ${hi}m`;
  if (request !== undefined && request > hi) return `request ${request}m is above the most ${hi}m`;
  if (
    Number.isFinite(ratio) &&
    (request === undefined || request === 0 || limit === undefined || limit > ratio * request)
  ) {
    return `limit ${say(limit)} is more than ${ratio} times the request ${say(request)}`;
  }
  return undefined;
}

const say = (value: number | undefined): string => (value === undefined ? 'none' : `${value}m`);
