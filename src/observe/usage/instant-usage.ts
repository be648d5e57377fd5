/**
 * What containers used at one instant, in columns: a list of a whole namespace is kept for an interval, and as an
 * object a container it would be the largest thing in memory.
 */
import { ascending } from '../../lib/ascending.ts';
import { createTextInterner } from '../../lib/text-interner.ts';
import type { Bytes, EpochMillis, Millicores } from '../../lib/units.ts';
import type { UsagePoint, UsageSeries } from '../../model/usage-series.ts';

/** Averaged by the source over its own window, usually 15 to 30 seconds. */
export interface ContainerUsage {
  readonly container: string;
  /** At least one of the two is known. */
  readonly cpu: Millicores | undefined;
  readonly memory: Bytes | undefined;
}

const MAX_NAMES = 1_000;

/** Filled once, then read. */
export interface InstantUsage {
  /** In place of what was added for the same pod before. */
  add(pod: string, at: EpochMillis, usage: readonly ContainerUsage[]): void;
  /** A series of one point a container; empty for a pod that was not added. */
  of(pod: string): readonly UsageSeries[];
}

export function createInstantUsage(): InstantUsage {
  const pods: string[] = [];
  const times: EpochMillis[] = [];
  /** Row of the first container of each pod; those of the next pod follow. */
  const firstRows: number[] = [];
  const containers: string[] = [];
  const cpus: (Millicores | undefined)[] = [];
  const memories: (Bytes | undefined)[] = [];
  const names = createTextInterner(MAX_NAMES);
  /** Places of pods by name, of equal ones the later after the earlier. Searched: a map would be a third of it all. */
  let order: Uint32Array | undefined;
  const nameAt = (index: number): string => pods[order?.[index] ?? 0] ?? '';
  const placeOf = (pod: string): number | undefined => {
    order ??= Uint32Array.from(pods.keys()).sort((a, b) => ascending(pods[a] ?? '', pods[b] ?? '') || a - b);
    let [from, to] = [0, order.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (nameAt(middle) <= pod) from = middle + 1;
      else to = middle;
    }
    return from > 0 && nameAt(from - 1) === pod ? order[from - 1] : undefined;
  };
  return {
    add(pod, at, usage) {
      order = undefined;
      pods.push(pod);
      times.push(at);
      firstRows.push(containers.length);
      for (const { container, cpu, memory } of usage) {
        containers.push(names.intern(container));
        cpus.push(cpu);
        memories.push(memory);
      }
    },
    of(pod) {
      const place = placeOf(pod);
      const at = place === undefined ? undefined : times[place];
      if (place === undefined || at === undefined) return [];
      const first = firstRows[place] ?? 0;
      return containers.slice(first, firstRows[place + 1]).map((container, index) => ({
        pod,
        container,
        cpu: pointsOf(at, cpus[first + index]),
        memory: pointsOf(at, memories[first + index]),
      }));
    },
  };
}

function pointsOf<T>(at: EpochMillis, value: T | undefined): readonly UsagePoint<T>[] {
  return value === undefined ? [] : [{ at, value }];
}
