/** A percentile out of the exact figures of a window. */
import type { WindowPercentiles } from '../../model/usage-window.ts';

/** @returns undefined where there is no window, or where it does not hold this percentile. */
export function windowPercentile(window: WindowPercentiles | undefined, percentile: number): number | undefined {
  switch (percentile) {
    case 50:
      return window?.p50;
    case 90:
      return window?.p90;
    case 95:
      return window?.p95;
    case 99:
      return window?.p99;
    case 100:
      return window?.max;
    default:
      return undefined;
  }
}
