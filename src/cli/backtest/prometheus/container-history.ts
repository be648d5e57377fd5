/**
 * The usage of the containers of one workload over time, all replicas together, gathered answer by answer for the
 * replays.
 */
import { ascending } from '../../../lib/ascending.ts';
import type { Bytes, EpochMillis, Millis } from '../../../lib/units.ts';
import type { UsageSeries as PodUsage } from '../../../model/usage-series.ts';
import type { MemoryPoint } from '../../../simulator/backtest/memory-trace.ts';
import { createNumberColumn, type NumberColumn, type UsageSeries } from '../../../simulator/backtest/usage-series.ts';

export interface ContainerHistory {
  readonly container: string;
  /** Undefined: nothing is known of it. */
  readonly cpu: Pick<UsageSeries, 'at' | 'usage' | 'replicas'> | undefined;
  /** Empty: nothing is known of it. */
  readonly memory: readonly MemoryPoint[];
}

/** Holds all samples of one workload, in columns; the caller bounds how many. */
export interface HistoryGathering {
  /** Answers come in order of time and do not overlap. */
  add(series: readonly PodUsage[]): void;
  /** So far, of CPU and memory. */
  samples(): number;
  /** In order of names. */
  containers(): ContainerHistory[];
}

interface Gathered {
  readonly cpuAt: NumberColumn;
  readonly cpu: NumberColumn;
  readonly cpuReplicas: NumberColumn;
  readonly memory: MemoryPoint[];
  /** Of each resource its own: an answer tells all of CPU before it begins anew with memory, and places go by time. */
  readonly cpuPlaces: ReplicaPlaces;
  readonly memoryPlaces: ReplicaPlaces;
}

export function createHistoryGathering(): HistoryGathering {
  const gathered = new Map<string, Gathered>();
  let samples = 0;

  function gather(container: string): Gathered {
    const known = gathered.get(container);
    if (known !== undefined) return known;
    const made = {
      cpuAt: createNumberColumn(),
      cpu: createNumberColumn(),
      cpuReplicas: createNumberColumn(),
      memory: [],
      cpuPlaces: createReplicaPlaces(),
      memoryPlaces: createReplicaPlaces(),
    };
    gathered.set(container, made);
    return made;
  }

  return {
    add(series) {
      for (const [container, pods] of Map.groupBy(series, (one) => one.container)) {
        const own = gather(container);
        const cpu = pods
          .flatMap(({ pod, cpu: points }) => points.map((point) => ({ pod, ...point })))
          .toSorted((a, b) => a.at - b.at);
        for (const { pod, at, value } of cpu) {
          own.cpuAt.push(at);
          own.cpu.push(value);
          own.cpuReplicas.push(own.cpuPlaces.of(pod, at));
        }
        const memory = pods
          .flatMap(({ pod, memory: points }) => points.map((point) => ({ pod, ...point })))
          .toSorted((a, b) => a.at - b.at);
        for (const [at, points] of Map.groupBy(memory, (point) => point.at)) {
          const demand = points.map(({ value }): Bytes => value);
          own.memory.push({
            at,
            demand,
            replicas: points.map(({ pod }) => own.memoryPlaces.of(pod, at)),
            isSeen: true,
          });
        }
        samples += cpu.length + memory.length;
      }
    },
    samples: () => samples,
    containers: () =>
      [...gathered]
        .toSorted(([a], [b]) => ascending(a, b))
        .map(([container, { cpuAt, cpu, cpuReplicas, memory }]) => ({
          container,
          cpu:
            cpuAt.values().length === 0
              ? undefined
              : { at: cpuAt.values(), usage: cpu.values(), replicas: cpuReplicas.values() },
          memory,
        })),
  };
}

interface ReplicaPlaces {
  of(pod: string, at: EpochMillis): number;
}

/** A pod that was not seen for this long is gone, and its place is free. */
const GONE_MILLIS: Millis = 3_600_000;

/** A pod keeps its place; one that takes over from another gets that one's, as if it were the same replica. */
function createReplicaPlaces(): ReplicaPlaces {
  const placeOf = new Map<string, number>();
  const places: { pod: string; lastAt: EpochMillis }[] = [];
  return {
    of(pod, at) {
      const known = placeOf.get(pod);
      if (known !== undefined) {
        const place = places[known];
        if (place !== undefined) place.lastAt = Math.max(place.lastAt, at);
        return known;
      }
      const free = places.findIndex(({ lastAt }) => at - lastAt > GONE_MILLIS);
      const index = free < 0 ? places.length : free;
      const before = places[index];
      if (before !== undefined) placeOf.delete(before.pod);
      places[index] = { pod, lastAt: at };
      placeOf.set(pod, index);
      return index;
    },
  };
}
