/**
 * What containers used at one instant, in columns: a list of a whole namespace is kept for an interval, and as an
 * object a container it would be the largest thing in memory.
 */
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
  /** Place of each pod in the columns of pods. */
  const places = new Map<string, number>();
  const times: EpochMillis[] = [];
  /** Row of the first container of each pod; those of the next pod follow. */
  const firstRows: number[] = [];
  const containers: string[] = [];
  const cpus: (Millicores | undefined)[] = [];
  const memories: (Bytes | undefined)[] = [];
  const names = createTextInterner(MAX_NAMES);
  return {
    add(pod, at, usage) {
      places.set(pod, times.length);
      times.push(at);
      firstRows.push(containers.length);
      for (const { container, cpu, memory } of usage) {
        containers.push(names.intern(container));
        cpus.push(cpu);
        memories.push(memory);
      }
    },
    of(pod) {
      const place = places.get(pod);
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
