/**
 * Cuts a stretch of time into range queries that Prometheus answers: at most 11,000 points a series, and a budget of
 * samples.
 */
import type { EpochMillis, Millis } from '../../../lib/units.ts';

/** Prometheus refuses more (web/api/v1: "exceeded maximum resolution of 11,000 points per timeseries"). */
export const MAX_POINTS = 11_000;
/** Coarser steps tell too little of the shape of a day; beyond, the stretch is cut instead. */
const MAX_STEP_MILLIS: Millis = 300_000;

/** Instants are rounded to steps; what is before `from` is never asked for. */
export interface RangePlanInput {
  readonly from: EpochMillis;
  readonly to: EpochMillis;
  /** The finest step wanted; whole seconds. */
  readonly stepMillis: Millis;
  /** Series the answer is expected to have; at least 1. */
  readonly series: number;
  /** Samples one answer may have. */
  readonly sampleBudget: number;
}

/** One request. */
export interface TimeRange {
  /** Both ends are asked for, and are multiples of the step: the same instant is asked for whenever it is asked. */
  readonly start: EpochMillis;
  readonly end: EpochMillis;
}

/** The step holds for all ranges: answers can be laid side by side. */
export interface RangePlan {
  readonly stepMillis: Millis;
  /** In order of time; empty where no step lies between `from` and `to`. */
  readonly ranges: readonly TimeRange[];
}

/**
 * Everything after `from` up to `to`. The step is a multiple of the one wanted, longer only to stay within the budgets.
 */
export function planRanges({ from, to, stepMillis, series, sampleBudget }: RangePlanInput): RangePlan {
  const step = Math.max(1000, Math.round(stepMillis / 1000) * 1000);
  const length = Math.max(0, to - from);
  const pointsWanted = Math.max(1, Math.min(MAX_POINTS - 1, Math.floor(sampleBudget / Math.max(1, series))));
  const factor = Math.ceil(length / step / pointsWanted);
  const widest = Math.max(1, Math.floor(MAX_STEP_MILLIS / step));
  const wide = step * Math.max(1, Math.min(factor, widest));
  const perRange = Math.max(1, Math.min(pointsWanted, MAX_POINTS - 1));
  const ranges: TimeRange[] = [];
  const last = Math.floor(to / wide) * wide;
  for (let start = Math.floor(from / wide) * wide + wide; start <= last; start += perRange * wide) {
    ranges.push({ start, end: Math.min(last, start + (perRange - 1) * wide) });
  }
  return { stepMillis: wide, ranges };
}
