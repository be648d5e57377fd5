/** Of all advice, what is to be changed now. */

import type { SizeChange } from '../../model/pod-size.ts';
import { sizeOfContainer } from '../../model/pod-size.ts';
import { restartsOn } from '../../model/restart-on-resize.ts';
import type { ContainerSize, ContainerSpecRecord } from '../../model/sizing-records.ts';
import { formatAmount } from './amount-text.ts';
import type { SizedAdvice } from './recommend-workload.ts';

/**
 * One entry a container with something due; only the keys that change, so that advice that was followed asks for
 * nothing.
 */
export function dueChanges(advice: readonly SizedAdvice[]): readonly SizeChange[] {
  return advice.flatMap(({ container, current, cpu, memory }) => {
    const to: { -readonly [Key in keyof ContainerSize]: number } = {};
    if (cpu.isDue && cpu.request !== undefined) {
      if (cpu.request !== current.cpuRequest) to.cpuRequest = cpu.request;
      if (cpu.limit !== undefined && cpu.limit !== current.cpuLimit) to.cpuLimit = cpu.limit;
    }
    if (memory.isDue && memory.request !== undefined) {
      if (memory.request !== current.memoryRequest) to.memoryRequest = memory.request;
      if (memory.limit !== undefined && memory.limit !== current.memoryLimit) to.memoryLimit = memory.limit;
    }
    return Object.keys(to).length === 0 ? [] : [{ container, to }];
  });
}

/** The changes with memory limits that would fall as they are, unless their containers restart for it. */
export function withMemoryLimits(
  changes: readonly SizeChange[],
  inForce: readonly ContainerSpecRecord[],
): readonly SizeChange[] {
  return changes.flatMap((change) => {
    const { container, to } = change;
    const { memoryLimit = Number.POSITIVE_INFINITY, ...others } = to;
    const isLower = memoryLimit < (sizeOfContainer(inForce, container)?.memoryLimit ?? 0);
    if (!isLower || restartsOn(inForce, { container, resource: 'memory' })) return [change];
    return Object.keys(others).length === 0 ? [] : [{ container, to: others }];
  });
}

/** For people: `nginx: cpu 500m -> 250m, memory 512Mi -> 256Mi`. */
export function describeChanges(
  changes: readonly SizeChange[],
  before: readonly { readonly name: string; readonly size: ContainerSize }[],
): string {
  return changes
    .map(({ container, to }) => {
      const from = sizeOfContainer(before, container) ?? {};
      return `${container}: ${[
        ...describe('cpu', 'cpu', from.cpuRequest, to.cpuRequest),
        ...describe('cpu', 'cpu limit', from.cpuLimit, to.cpuLimit),
        ...describe('memory', 'memory', from.memoryRequest, to.memoryRequest),
        ...describe('memory', 'memory limit', from.memoryLimit, to.memoryLimit),
      ].join(', ')}`;
    })
    .join('; ');
}

function describe(
  resource: 'cpu' | 'memory',
  label: string,
  from: number | undefined,
  to: number | undefined,
): readonly string[] {
  if (to === undefined) return [];
  return [`${label} ${from === undefined ? 'none' : formatAmount(resource, from)} -> ${formatAmount(resource, to)}`];
}
