/** OptiPod as it ships: the 90th percentile of the usage averaged over the whole window, times 1.2. */
import { exactPercentile } from '../../../lib/exact-percentile.ts';
import type { Strategy } from '../strategy.ts';
import { gateChange } from './gate.ts';
import { createSampleWindow } from './sample-window.ts';

const WINDOW = 86_400_000;
const PERCENTILE = 90;
const SAFETY_FACTOR = 1.2;

/**
 * Its Prometheus query is `rate(...[rollingWindow])`: every point is already the mean of a day, so peaks are not seen.
 * Of several replicas the mean is of all; OptiPod itself asks for the first pod alone.
 */
export function createOptipodCpu(): Strategy {
  const usages = createSampleWindow(WINDOW);
  const averages = createSampleWindow(WINDOW);
  return {
    observe(usage, at) {
      usages.add(usage, at);
      averages.add(Math.trunc(usages.mean()), at);
    },
    choose: (current) =>
      gateChange(current, Math.max(1, Math.trunc(exactPercentile(averages.sorted(), PERCENTILE) * SAFETY_FACTOR))),
  };
}
