/** Arms that size each pod by its own usage, without regard to the others: requests as VPA does, quotas as autoscaling papers do. */
import { exactPercentile } from '../../lib/exact-percentile.ts';
import type { Millis } from '../../lib/units.ts';
import type { Arm, PodObservation } from '../arm.ts';
import type { CpuSettings } from '../substrate.ts';
import { createUsageWindow } from './usage-window.ts';

const MIN_REQUEST = 25;
/** VPA resizes on a change of more than this share. */
const VPA_MIN_CHANGE = 0.1;
const TARGET_UTILIZATION = 0.7;

function sized(
  name: string,
  describe: string,
  windowMillis: Millis,
  everyMillis: Millis,
  size: (usage: readonly number[], before: CpuSettings) => CpuSettings,
): Arm {
  return {
    name,
    describe,
    tickMillis: 1000,
    create: () => {
      const window = createUsageWindow(windowMillis);
      return {
        initial: ({ request }) => ({ request, limit: undefined }),
        tick(observations: readonly PodObservation[], now) {
          window.add(observations, now);
          if (now % everyMillis !== 0) return new Map();
          return new Map(
            observations.map(({ pod, settings }): [string, CpuSettings] => [
              pod.name,
              size(window.of(pod.name), settings),
            ]),
          );
        },
      };
    },
  };
}

export const usageArms: readonly Arm[] = [
  sized('vpa-like', 'request = 90th percentile of usage x 1.15, each minute', 480_000, 60_000, (usage, before) => {
    const sorted = usage.toSorted((a, b) => a - b);
    const request = Math.max(MIN_REQUEST, Math.ceil(exactPercentile(sorted, 90) * 1.15));
    return Math.abs(request - before.request) > VPA_MIN_CHANGE * before.request
      ? { request, limit: undefined }
      : before;
  }),
  sized('usage/0.7', 'quota = highest usage of 20 s / 0.7, each second', 20_000, 1000, (usage) => {
    const limit = Math.max(MIN_REQUEST, Math.ceil(Math.max(...usage) / TARGET_UTILIZATION));
    return { request: limit, limit };
  }),
];
