/** From the sampler's windows to what the planner calls a measurement. */
import type { Measurement } from '../decide/allocation/demand.ts';
import type { Millis } from '../lib/units.ts';
import type { CpuWindow } from './cgroup/counter-ring.ts';
import type { PodUse } from './sampler.ts';

/**
 * The kernel throttles the pod by the sum of its limits and each container by its own: what binds tighter counts.
 * @returns 0..1; undefined where nothing has a quota, or nothing ran.
 */
export function tighterRatio(pod: CpuWindow, containers: readonly (CpuWindow | undefined)[]): number | undefined {
  const ratios = [pod, ...containers].map((window) => window?.throttledRatio).filter((ratio) => ratio !== undefined);
  return ratios.length === 0 ? undefined : Math.max(...ratios);
}

/** @returns undefined where the newest sample is older than `oldestMillis`, or there is no window yet. */
export function measure(
  use: PodUse | undefined,
  containerNames: readonly string[],
  spanMillis: Millis,
  oldestMillis: Millis,
): Measurement | undefined {
  const last = use?.lastMillis();
  const window = use?.window(spanMillis);
  if (use === undefined || window === undefined || last === undefined || last < oldestMillis) return undefined;
  const windows = containerNames.map((name) => use.container(name)?.window(spanMillis));
  return {
    usage: window.usageMillicores,
    throttledRatio: tighterRatio(window, windows),
    pressure: window.pressureRatio,
    containers: containerNames.flatMap((name, index) => {
      const usage = windows[index]?.usageMillicores;
      return usage === undefined ? [] : [{ name, usage }];
    }),
  };
}
