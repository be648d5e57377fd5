/** From the sampler's windows to what the planner calls a measurement. */
import type { Measurement } from '../decide/allocation/demand.ts';
import type { Millis } from '../lib/units.ts';
import type { CpuWindow } from './cgroup/counter-ring.ts';
import type { PodUse } from './sampler.ts';

/**
 * The kernel throttles the pod by the sum of its limits and each container by its own: what binds tighter counts.
 * @returns 0..1; undefined where nothing has a quota, or nothing ran.
 */
export function tighterRatio(
  pod: CpuWindow | undefined,
  containers: readonly (CpuWindow | undefined)[],
): number | undefined {
  return largestOf([pod, ...containers].map((window) => window?.throttledRatio));
}

function largestOf(ratios: readonly (number | undefined)[]): number | undefined {
  const known = ratios.filter((ratio) => ratio !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

/** For people: of the pod or its tighter container, whatever could be done about it. */
export function toldRatio({ throttledRatio, fixedRatio }: Measurement): number | undefined {
  return fixedRatio === undefined ? throttledRatio : Math.max(throttledRatio ?? 0, fixedRatio);
}

/** By name. */
export interface MeasuredContainers {
  readonly all: readonly string[];
  /** Those whose throttling is only told, see `fixedContainers`. */
  readonly fixed: ReadonlySet<string>;
}

/** @returns undefined where the newest sample is older than `oldestMillis`, or there is no window yet. */
export function measure(
  use: PodUse | undefined,
  { all, fixed }: MeasuredContainers,
  spanMillis: Millis,
  oldestMillis: Millis,
): Measurement | undefined {
  const last = use?.lastMillis();
  const window = use?.window(spanMillis);
  if (use === undefined || window === undefined || last === undefined || last < oldestMillis) return undefined;
  const containers = all.map((name) => ({ name, window: use.container(name)?.window(spanMillis) }));
  const windowsOf = (isFixed: boolean): readonly (CpuWindow | undefined)[] =>
    containers.filter(({ name }) => fixed.has(name) === isFixed).map((container) => container.window);
  const fixedRatio = tighterRatio(undefined, windowsOf(true));
  const others = windowsOf(false);
  return {
    usage: window.usageMillicores,
    throttledRatio: tighterRatio(window, others),
    ...(fixedRatio !== undefined && { fixedRatio }),
    // The kernel counts who is throttled as waiting, and does not say for what (k/e#5062).
    pressure: (fixedRatio ?? 0) > 0 ? largestOf(others.map((each) => each?.pressureRatio)) : window.pressureRatio,
    containers: containers.flatMap((container) => {
      if (container.window === undefined) return [];
      const { usageMillicores: usage, throttledRatio: ratio } = container.window;
      return [{ name: container.name, usage, ...(ratio !== undefined && { throttledRatio: ratio }) }];
    }),
  };
}
