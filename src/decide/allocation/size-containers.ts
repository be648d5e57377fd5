/** The new sizes of a pod's containers for a request and a limit of the whole pod; only what changes, never memory. */
import type { Millicores } from '../../lib/units.ts';
import { type SizeChange, sumOf } from '../../model/pod-size.ts';
import { type AllowedRange, allowedRange } from '../../model/size-bounds.ts';
import type { ContainerSize, LimitRangeRecord } from '../../model/sizing-records.ts';
import type { AllocationPod } from './allocation-pod.ts';
import type { PodTarget } from './node-input.ts';
import { kernelFloor } from './problem.ts';
import { type Portion, raisedTo, splitTotal } from './split-containers.ts';

/**
 * Parts are by measured usage, within LimitRange and limits; they add up to the target where bounds allow it. Limits
 * are tens where the target is: systemd rounds each quota up to that (k/k#129357). A container that has no request gets
 * none, as it could not be taken away again; under a ceiling it gets the least, as its limit would become its request.
 * No memory is ever written.
 * @param userLimits see `userLimitsOf`.
 */
export function sizeContainers(
  pod: AllocationPod,
  target: PodTarget,
  usage: ReadonlyMap<string, Millicores>,
  ranges: readonly LimitRangeRecord[],
  userLimits: ReadonlyMap<string, Millicores> = new Map(),
): SizeChange[] {
  const { containers, qos } = pod;
  const [range, wholePod] = [allowedRange(ranges, 'Container', 'cpu'), allowedRange(ranges, 'Pod', 'cpu')];
  const movesLimit = target.limitPolicy !== 'Keep' && target.limit !== undefined;
  const mostOf = (name: string): Millicores => userLimits.get(name) ?? Number.POSITIVE_INFINITY;
  /** Beside a limit that stays a request has to be large enough for the ratio of the two. */
  const leastBeside = (limit: Millicores | undefined, { maxRatio }: AllowedRange): Millicores =>
    movesLimit || limit === undefined ? 0 : Math.ceil(limit / maxRatio);
  const request = Math.max(target.request, leastBeside(sumOf(containers, 'cpuLimit'), wholePod));
  const requests = splitTotal(
    request,
    containers.map(({ name, size: { cpuRequest, cpuLimit } }) => {
      const current = cpuRequest ?? 0;
      const added = movesLimit ? kernelFloor : 0;
      const kept = movesLimit ? mostOf(name) : (cpuLimit ?? Number.POSITIVE_INFINITY);
      const [least, most] = cpuRequest === undefined ? [added, added] : [Math.min(current, kernelFloor), kept];
      const min = Math.max(range.min, least, leastBeside(cpuLimit, range));
      return { name, usage: usage.get(name), current, min, max: Math.min(range.max, most) };
    }),
    qos === 'Guaranteed' ? quantumOf(request) : 1,
  );
  if (qos === 'Guaranteed') {
    return containers.flatMap(({ name, size }) => {
      const value = requests.get(name);
      return changeOf(name, size, value, value);
    });
  }
  if (!movesLimit) return containers.flatMap(({ name, size }) => changeOf(name, size, requests.get(name), undefined));
  const requested = [...requests.values()].reduce((sum, each) => sum + each, 0);
  const highest = Math.min(wholePod.max, wholePod.maxRatio * Math.max(1, requested));
  const limit = Math.floor(Math.min(target.limit ?? 0, highest));
  // While a ceiling is lifted no container's limit goes down, but where its ratio to a request that does would break.
  const isLifted = target.limitPolicy === 'Lift' && sumOf(containers, 'cpuLimit') <= highest;
  const portions = containers.map(({ name, size }): Portion => {
    const own = requests.get(name) ?? 0;
    const current = size.cpuLimit ?? own;
    const max = Math.min(range.max, range.maxRatio * own, mostOf(name));
    const least = isLifted ? Math.min(current, max) : 0;
    return { name, usage: usage.get(name), current, min: Math.max(range.min, own, least, kernelFloor), max };
  });
  const quantum = quantumOf(limit);
  const limits = splitTotal(limit, raisedTo(LEAST_LIMIT, limit, portions, quantum), quantum);
  return containers.flatMap(({ name, size }) => changeOf(name, size, requests.get(name), limits.get(name)));
}

/**
 * Of one container beside others. What rests beside a hog is little used, and its part of the pod's ceiling would be: a
 * quota of a millisecond, which makes each of its replies wait for the next period.
 */
const LEAST_LIMIT: Millicores = 50;

/** What its user set otherwise stays as it is. */
function quantumOf(total: Millicores): 1 | 10 {
  return total % 10 === 0 ? 10 : 1;
}

function changeOf(
  container: string,
  size: ContainerSize,
  cpuRequest: Millicores | undefined,
  cpuLimit: Millicores | undefined,
): SizeChange[] {
  const to: ContainerSize = {
    ...(cpuRequest !== undefined && cpuRequest !== (size.cpuRequest ?? 0) && { cpuRequest }),
    ...(cpuLimit !== undefined && cpuLimit !== size.cpuLimit && { cpuLimit }),
  };
  return Object.keys(to).length === 0 ? [] : [{ container, to }];
}
