/**
 * CPU that allocation gave each replica, in 24 bytes a pod: all else of its sizes it has in common with the others. As
 * objects, sizes that are each pod's own would be a tenth of all that is kept of it.
 */
import type { ContainerSize } from '../../model/sizing-records.ts';

/** Two characters a container: what it requests, and its limit, each one more than it is; 0 where there is none. */
export type OwnCpu = string;

const MOST = 0xffff - 1;
const WIDTH = 2;

/** What tells `sizes` from those of another pod; undefined where that is more than CPU, or cannot be written so. */
export function ownCpuOf(sizes: readonly ContainerSize[], others: readonly ContainerSize[]): OwnCpu | undefined {
  if (sizes.length !== others.length) return undefined;
  const codes = sizes.flatMap(({ cpuRequest, cpuLimit }) => [codeOf(cpuRequest), codeOf(cpuLimit)]);
  const hasSameMemory = sizes.every(
    ({ memoryRequest, memoryLimit }, index) =>
      memoryRequest === others[index]?.memoryRequest && memoryLimit === others[index]?.memoryLimit,
  );
  return hasSameMemory && codes.every((code) => code !== undefined) ? String.fromCharCode(...codes) : undefined;
}

/** The sizes that were told apart. */
export function withOwnCpu(others: readonly ContainerSize[], own: OwnCpu): readonly ContainerSize[] {
  return others.map(({ memoryRequest, memoryLimit }, index) => {
    const [cpuRequest, cpuLimit] = [amountAt(own, index * WIDTH), amountAt(own, index * WIDTH + 1)];
    return {
      ...(cpuRequest !== undefined && { cpuRequest }),
      ...(cpuLimit !== undefined && { cpuLimit }),
      ...(memoryRequest !== undefined && { memoryRequest }),
      ...(memoryLimit !== undefined && { memoryLimit }),
    };
  });
}

function codeOf(amount: number | undefined): number | undefined {
  if (amount === undefined) return 0;
  return Number.isInteger(amount) && amount >= 0 && amount <= MOST ? amount + 1 : undefined;
}

function amountAt(own: OwnCpu, at: number): number | undefined {
  const code = own.charCodeAt(at);
  return code > 0 ? code - 1 : undefined;
}
