/** How late callbacks run, because something (garbage collection, a long computation) holds the event loop. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Clock } from '../lib/clock.ts';

/** Of this process. A delay is what a callback that was due waited for, so it includes what other work took. */
export interface LoopDelayMeter {
  /** Longest delay of the last one to two minutes, milliseconds. */
  maxMillis(): number;
  /**
   * The delay that this share of the samples of the present minute stayed below, milliseconds; 0 before the first
   * sample.
   */
  quantileMillis(quantile: 0.5 | 0.99): number;
  close(): void;
}

/** The part of node:perf_hooks' delay histogram that is used; times in nanoseconds. */
export interface DelayHistogram {
  readonly max: number;
  /** @param percentile above 0, at most 100. */
  percentile(percentile: number): number;
  enable(): unknown;
  disable(): unknown;
}

/**
 * Distance of the samples: how late callbacks run is found by samples, of which 600 a minute are enough. One each 20 ms
 * would cost 0.2 % of a core at rest, twice as much as all else the operator does then.
 */
const RESOLUTION_MILLIS = 100;
const WINDOW_MILLIS = 60_000;

/** @param create makes a histogram that is not enabled yet. */
export function createLoopDelayMeter(
  clock: Clock,
  create: () => DelayHistogram = () => monitorEventLoopDelay({ resolution: RESOLUTION_MILLIS }),
): LoopDelayMeter {
  const start = (): DelayHistogram => {
    const histogram = create();
    histogram.enable();
    return histogram;
  };
  let histogram = start();
  let startedMillis = clock.now();
  /** Of the window before the present one. */
  let previous = 0;
  return {
    maxMillis() {
      const current = delayOf(histogram.max);
      const longest = Math.max(previous, current);
      if (clock.now() - startedMillis >= WINDOW_MILLIS) {
        previous = current;
        startedMillis = clock.now();
        histogram.disable();
        // A new one: to reset it writes all of its 350 KB, of which a minute of samples touches a few pages.
        histogram = start();
      }
      return longest;
    },
    quantileMillis: (quantile) => delayOf(histogram.percentile(quantile * 100)),
    close: () => void histogram.disable(),
  };
}

/** The histogram measures the distance between samples in nanoseconds, the resolution included. */
function delayOf(distanceNanos: number): number {
  return Math.max(0, distanceNanos / 1e6 - RESOLUTION_MILLIS);
}
