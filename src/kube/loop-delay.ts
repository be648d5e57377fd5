/** How late callbacks run, because something (garbage collection, a long computation) holds the event loop. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

export interface LoopDelayMeter {
  /** Longest delay of the last one to two minutes, milliseconds. */
  maxMillis(): number;
  close(): void;
}

/** Resolution of the sampling timer; delays below are not seen. */
const RESOLUTION_MILLIS = 20;

/** @param nowMillis a clock's time, to forget old stalls. */
export function createLoopDelayMeter(nowMillis: () => number): LoopDelayMeter {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MILLIS });
  histogram.enable();
  let startedMillis = nowMillis();
  let previous = 0;
  return {
    maxMillis() {
      // The histogram measures the distance between samples, the resolution included.
      const current = Math.max(0, histogram.max / 1e6 - RESOLUTION_MILLIS);
      if (nowMillis() - startedMillis > 60_000) {
        previous = current;
        startedMillis = nowMillis();
        histogram.reset();
      }
      return Math.max(previous, current);
    },
    close: () => histogram.disable(),
  };
}
