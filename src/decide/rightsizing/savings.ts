/** What following the advice would free, for order and for metrics. */
import type { Bytes, Millicores } from '../../lib/units.ts';
import { requestOf, type SizedAdvice } from './recommend-workload.ts';

export interface Saving {
  /** Of all replicas; negative where more is needed. */
  readonly cpuMillis: Millicores;
  readonly memoryBytes: Bytes;
}

/** On list prices of the large clouds a core costs about as much as this much memory. */
const BYTES_PER_CORE = 7.5 * 1024 ** 3;

export function savingOf(advice: readonly SizedAdvice[], replicas: number): Saving {
  let cpuMillis = 0;
  let memoryBytes = 0;
  for (const { current, cpu, memory } of advice) {
    if (cpu.target !== undefined) cpuMillis += (requestOf('cpu', current) ?? 0) - cpu.target;
    if (memory.target !== undefined) memoryBytes += (requestOf('memory', current) ?? 0) - memory.target;
  }
  return { cpuMillis: cpuMillis * replicas, memoryBytes: memoryBytes * replicas };
}

export function sumSavings(savings: Iterable<Saving>): Saving {
  let cpuMillis = 0;
  let memoryBytes = 0;
  for (const saving of savings) {
    cpuMillis += saving.cpuMillis;
    memoryBytes += saving.memoryBytes;
  }
  return { cpuMillis, memoryBytes };
}

/** In cores, memory weighed by its price: one number to sort by. */
export function worthOf({ cpuMillis, memoryBytes }: Saving): number {
  return cpuMillis / 1000 + memoryBytes / BYTES_PER_CORE;
}
