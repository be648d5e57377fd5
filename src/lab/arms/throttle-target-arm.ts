/**
 * The arm that steers each pod's quota to a small share of throttled periods, as Autothrottle's local controller does
 * (NSDI'24, arXiv 2212.12180): up in proportion to the excess, down to recent usage and a margin, back up after a cut that hurt.
 */
import type { Millicores } from '../../lib/units.ts';
import type { Arm, PodObservation } from '../arm.ts';
import { createUsageWindow } from './usage-window.ts';

const TARGET = 0.1;
const HARM = 3 * TARGET;
const MIN_LIMIT: Millicores = 10;
const WINDOW_MILLIS = 50_000;
const MAX_CUT = 0.5;
/** A smaller cut is not worth it. */
const LEAST_CUT = 0.1;

interface Steering {
  margin: number;
  /** Of the last cut, until it has proved harmless. */
  cutFrom: Millicores | undefined;
}

export const throttleTargetArm: Arm = {
  name: 'throttle-target',
  describe: 'quota steered to 10 % throttled periods, each second',
  tickMillis: 1000,
  create: ({ allocatable }) => {
    const window = createUsageWindow(WINDOW_MILLIS);
    const steerings = new Map<string, Steering>();
    const next = ({ pod, settings, throttledRatio = 0 }: PodObservation): Millicores => {
      const limit = settings.limit ?? allocatable;
      const steering = steerings.get(pod.name) ?? { margin: 0, cutFrom: undefined };
      steerings.set(pod.name, steering);
      const { cutFrom } = steering;
      steering.cutFrom = undefined;
      if (throttledRatio > HARM) {
        if (cutFrom === undefined) return Math.min(allocatable, Math.ceil(limit * (1 + throttledRatio - HARM)));
        steering.margin += throttledRatio - TARGET;
        return Math.min(allocatable, cutFrom + (cutFrom - limit));
      }
      steering.margin = Math.max(0, steering.margin + throttledRatio - TARGET);
      const usage = window.of(pod.name);
      const proposed = Math.max(...usage) + steering.margin * deviation(usage);
      if (proposed > (1 - LEAST_CUT) * limit) return limit;
      steering.cutFrom = limit;
      return Math.max(MIN_LIMIT, Math.ceil(MAX_CUT * limit), Math.ceil(proposed));
    };
    return {
      initial: ({ request }) => ({ request, limit: 2 * request }),
      tick(observations, now) {
        window.add(observations, now);
        return new Map(
          observations.map((each) => {
            const limit = next(each);
            return [each.pod.name, { request: limit, limit }];
          }),
        );
      },
    };
  },
};

function deviation(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
}
