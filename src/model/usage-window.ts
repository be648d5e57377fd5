/**
 * The percentiles of a rolling window, of all replicas' samples together: what the Percentile and Max strategies
 * go by. The samples themselves are not kept: a day of them at 30 s would be 100 times the size of a profile.
 */
import { exactPercentile } from '../lib/exact-percentile.ts';
import type { EpochMillis } from '../lib/units.ts';
import type { ResourceInstants } from './usage-series.ts';

/** Millicores or bytes. */
export interface WindowPercentiles {
  readonly p50: number;
  readonly p90: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
  /** Samples they were computed from; at least 1. */
  readonly samples: number;
}

/** Either resource is undefined where the window holds no sample of it. */
export interface UsageWindow {
  readonly from: EpochMillis;
  readonly to: EpochMillis;
  readonly cpu: WindowPercentiles | undefined;
  readonly memory: WindowPercentiles | undefined;
  /** The earliest sample of each: a window of a day may hold minutes. Not told by versions that did not know it. */
  readonly since?: ResourceInstants;
  /** Drawn from the samples of the window by chance: percentiles are right on average, but the highest is missed. */
  readonly isSampled?: true;
}

/**
 * @param samples millicores or bytes in any order; sorted in place.
 * @returns undefined when there are none.
 */
export function percentilesOf(samples: number[]): WindowPercentiles | undefined {
  const max = samples.sort((a, b) => a - b).at(-1);
  if (max === undefined) return undefined;
  return {
    p50: exactPercentile(samples, 50),
    p90: exactPercentile(samples, 90),
    p95: exactPercentile(samples, 95),
    p99: exactPercentile(samples, 99),
    max,
    samples: samples.length,
  };
}
