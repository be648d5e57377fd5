/** KRR's simple strategy: the 95th percentile of the last 14 days, at least 10 millicores. */
import type { Strategy } from '../strategy.ts';
import { gateChange } from './gate.ts';
import { createSampleWindow } from './sample-window.ts';

const WINDOW = 14 * 86_400_000;
const FRACTION = 0.95;
const FLOOR = 10;

export function createKrrCpu(): Strategy {
  const window = createSampleWindow(WINDOW);
  return {
    observe: (usage, at) => window.add(usage, at),
    choose(current) {
      // Prometheus' quantile_over_time: interpolated linearly between ranks.
      const rank = FRACTION * (window.length() - 1);
      const low = window.at(Math.floor(rank)) ?? 0;
      const high = window.at(Math.ceil(rank)) ?? low;
      return gateChange(current, Math.max(FLOOR, Math.ceil(low + (rank - Math.floor(rank)) * (high - low))));
    },
  };
}
