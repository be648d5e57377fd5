/** How late callbacks run, because something (garbage collection, a long computation) holds the event loop. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Clock } from '../lib/clock.ts';

export interface LoopDelayMeter {
  /** Longest delay of the last one to two minutes, milliseconds. */
  maxMillis(): number;
  close(): void;
}

/** The part of node:perf_hooks' delay histogram that is used; times in nanoseconds. */
export interface DelayHistogram {
  readonly max: number;
  reset(): void;
  enable(): unknown;
  disable(): unknown;
}

/** Distance of the samples; shorter delays are not seen. */
const RESOLUTION_MILLIS = 20;
const WINDOW_MILLIS = 60_000;

export function createLoopDelayMeter(
  clock: Clock,
  histogram: DelayHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MILLIS }),
): LoopDelayMeter {
  histogram.enable();
  let startedMillis = clock.now();
  /** Of the window before the present one. */
  let previous = 0;
  return {
    maxMillis() {
      // The histogram measures the distance between samples, the resolution included.
      const current = Math.max(0, histogram.max / 1e6 - RESOLUTION_MILLIS);
      const longest = Math.max(previous, current);
      if (clock.now() - startedMillis >= WINDOW_MILLIS) {
        previous = current;
        startedMillis = clock.now();
        histogram.reset();
      }
      return longest;
    },
    close: () => void histogram.disable(),
  };
}
