/** The new sizes of a pod's containers for a request and a limit of the whole pod; only what changes, never memory. */
import type { Millicores } from '../../lib/units.ts';
import type { SizeChange } from '../../model/pod-size.ts';
import { allowedRange } from '../../model/size-bounds.ts';
import type { ContainerSize, LimitRangeRecord } from '../../model/sizing-records.ts';
import type { AllocationPod } from './allocation-pod.ts';
import type { PodTarget } from './node-input.ts';
import { kernelFloor } from './problem.ts';
import { splitTotal } from './split-containers.ts';

/**
 * Parts are by measured usage, within LimitRange and limits; they add up to the target where bounds allow it. A
 * container that has no request gets none of its own accord, and no memory is ever written.
 */
export function sizeContainers(
  pod: AllocationPod,
  target: PodTarget,
  usage: ReadonlyMap<string, Millicores>,
  ranges: readonly LimitRangeRecord[],
): SizeChange[] {
  const { containers, qos } = pod;
  const range = allowedRange(ranges, 'Container', 'cpu');
  const movesLimit = target.limitPolicy !== 'Keep' && target.limit !== undefined;
  const requests = splitTotal(
    target.request,
    containers.map(({ name, size }) => {
      const current = size.cpuRequest ?? 0;
      const max = Math.min(
        range.max,
        movesLimit ? Number.POSITIVE_INFINITY : (size.cpuLimit ?? Number.POSITIVE_INFINITY),
      );
      return { name, usage: usage.get(name), current, min: Math.max(range.min, Math.min(current, kernelFloor)), max };
    }),
  );
  if (qos === 'Guaranteed') {
    return containers.flatMap(({ name, size }) => {
      const value = requests.get(name);
      return changeOf(name, size, value, value);
    });
  }
  if (!movesLimit) return containers.flatMap(({ name, size }) => changeOf(name, size, requests.get(name), undefined));
  const limits = splitTotal(
    target.limit ?? 0,
    containers.map(({ name, size }) => {
      const request = requests.get(name) ?? 0;
      const current = size.cpuLimit ?? request;
      // While a ceiling is lifted no container's limit goes down.
      const least = target.limitPolicy === 'Lift' ? current : 0;
      return {
        name,
        usage: usage.get(name),
        current,
        min: Math.max(range.min, request, least, kernelFloor),
        max: Math.min(range.max, range.maxRatio * request),
      };
    }),
  );
  return containers.flatMap(({ name, size }) => changeOf(name, size, requests.get(name), limits.get(name)));
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
