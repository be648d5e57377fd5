/**
 * KRR's simple strategy: of each pod the 95th percentile of the last 14 days, of these the highest, at least 10
 * millicores (robusta_krr/strategies/simple.py).
 */
import type { Strategy } from '../strategy.ts';
import { gateChange } from './gate.ts';
import { createSampleWindow, type SampleWindow } from './sample-window.ts';

const WINDOW = 14 * 86_400_000;
const FRACTION = 0.95;
/** KRR's own default, of each container. */
const FLOOR = 10;

export function createKrrCpu(): Strategy {
  const windows = new Map<number, SampleWindow>();
  return {
    observe(usage, at, replica) {
      const window = windows.get(replica) ?? createSampleWindow(WINDOW);
      windows.set(replica, window);
      window.add(usage, at);
    },
    choose(current, at) {
      let highest = 0;
      for (const window of windows.values()) {
        window.forget(at);
        highest = Math.max(highest, quantile(window, FRACTION));
      }
      return gateChange(current, Math.max(FLOOR, Math.ceil(highest)));
    },
  };
}

/** Prometheus' quantile_over_time: interpolated linearly between ranks. 0 where there is no sample. */
function quantile(window: SampleWindow, fraction: number): number {
  const rank = fraction * Math.max(0, window.length() - 1);
  const low = window.at(Math.floor(rank)) ?? 0;
  const high = window.at(Math.ceil(rank)) ?? low;
  return low + (rank - Math.floor(rank)) * (high - low);
}
