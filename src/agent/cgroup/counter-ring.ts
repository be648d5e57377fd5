/**
 * The newest samples of one group's counters, and what they say over any span of it: one sampler, a window for each
 * reader.
 */
import type { Millicores, Millis } from '../../lib/units.ts';
import type { CpuCounters } from './counters.ts';

/** What happened between two samples. */
export interface CpuWindow {
  /** Distance of the two samples; may be longer than was asked for where samples are missing. */
  readonly spanMillis: Millis;
  readonly usageMillicores: Millicores;
  readonly periods: number;
  /**
   * Throttled periods by periods, 0..1; undefined where no period passed: never 0/0. Without a quota the kernel counts
   * none.
   */
  readonly throttledRatio: number | undefined;
  /** Time throttled, summed over CPUs: more than the span is possible. */
  readonly throttledMillis: Millis;
  /** Share of the span in which some task waited for a CPU, 0..1; undefined where the kernel does not say. */
  readonly pressureRatio: number | undefined;
}

/** Of one control group. Nothing is allocated after it is made, unless it has to keep more. */
export interface CounterRing {
  /**
   * @param atMillis of a clock that never jumps.
   * Counters that fell belong to another group of the same name: what came before is dropped.
   */
  push(atMillis: Millis, counters: CpuCounters): void;
  /** Over about the last `spanMillis`, the newest sample included; undefined before there are two samples. */
  window(spanMillis: Millis): CpuWindow | undefined;
  /** When the newest sample was taken; undefined without samples. */
  readonly lastMillis: Millis | undefined;
  /** How often the counters started anew. */
  readonly epoch: number;
  /** Drops all samples: the next one starts a new epoch. */
  reset(): void;
  /** Keeps so many samples from now on, with what it has; never fewer than before. */
  grow(capacity: number): void;
}

/**
 * Time, usage, periods, throttled periods, throttled time, pressure: kept as numbers in a row, so that a sample makes
 * no garbage.
 */
const FIELDS = 6;
/** Stands for an unknown pressure; counters are never negative. */
const UNKNOWN = -1;

/** @param capacity samples kept, at least two. */
export function createCounterRing(capacity: number): CounterRing {
  let size = Math.max(2, Math.floor(capacity));
  let values = new Float64Array(size * FIELDS);
  let newest = -1;
  let count = 0;
  let epoch = 0;

  const at = (index: number, field: number): number => values[index * FIELDS + field] ?? 0;
  /** Index of the sample `back` before the newest. */
  const before = (back: number): number => (newest - back + size) % size;
  /** A container that restarted has a new group of the same name, with counters from zero (podman#11506). */
  const hasFallen = (counters: CpuCounters): boolean =>
    counters.usageMicros < at(newest, 1) ||
    counters.periods < at(newest, 2) ||
    counters.throttledPeriods < at(newest, 3) ||
    counters.throttledMicros < at(newest, 4);
  const reset = (): void => {
    count = 0;
    epoch++;
  };

  return {
    push(atMillis, counters) {
      if (count > 0 && hasFallen(counters)) reset();
      // Two samples of one instant have no rate between them.
      if (count > 0 && atMillis <= at(newest, 0)) return;
      newest = (newest + 1) % size;
      count = Math.min(size, count + 1);
      const { usageMicros, periods, throttledPeriods, throttledMicros, pressureMicros = UNKNOWN } = counters;
      values.set([atMillis, usageMicros, periods, throttledPeriods, throttledMicros, pressureMicros], newest * FIELDS);
    },
    window(spanMillis) {
      if (count < 2) return undefined;
      const end = at(newest, 0);
      let back = 1;
      // Half a millisecond of grace: timers are never exact.
      while (back + 1 < count && end - at(before(back + 1), 0) <= spanMillis + 0.5) back++;
      // The next older one is nearer to the span asked for where timers ran late.
      if (back + 1 < count) {
        const short = spanMillis - (end - at(before(back), 0));
        const long = end - at(before(back + 1), 0) - spanMillis;
        if (long < short) back++;
      }
      return difference(before(back), newest);
    },
    get lastMillis() {
      return count === 0 ? undefined : at(newest, 0);
    },
    get epoch() {
      return epoch;
    },
    reset,
    grow(wanted) {
      if (wanted <= size) return;
      const larger = new Float64Array(Math.floor(wanted) * FIELDS);
      // The oldest first.
      for (let index = 0; index < count; index++) {
        const start = before(count - 1 - index) * FIELDS;
        larger.set(values.subarray(start, start + FIELDS), index * FIELDS);
      }
      values = larger;
      size = Math.floor(wanted);
      newest = count - 1;
    },
  };

  /** Both are indices in the ring, `to` the later. */
  function difference(from: number, to: number): CpuWindow {
    const [start, end] = [from * FIELDS, to * FIELDS];
    const delta = (field: number): number => (values[end + field] ?? 0) - (values[start + field] ?? 0);
    const spanMillis = delta(0);
    const periods = delta(2);
    const pressure = at(from, 5) === UNKNOWN || at(to, 5) === UNKNOWN ? UNKNOWN : delta(5);
    return {
      spanMillis,
      // Microseconds a millisecond are thousandths of a core.
      usageMillicores: delta(1) / spanMillis,
      periods,
      throttledRatio: periods > 0 ? Math.min(1, delta(3) / periods) : undefined,
      throttledMillis: delta(4) / 1000,
      pressureRatio: pressure < 0 ? undefined : Math.min(1, pressure / 1000 / spanMillis),
    };
  }
}
