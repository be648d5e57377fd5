/**
 * Memory: the highest recent use and as much room above it as the container has shown to fill within a day. No
 * percentile: the one time in a hundred that needs more ends the container. Figures against percentiles are in
 * docs/rightsizing-method.md.
 */
import type { Bytes, EpochMillis, Millis } from '../../lib/units.ts';
import { type MemoryPeak, PEAK_SPAN_MILLIS } from '../../model/usage-memory.ts';
import type { PeakTarget } from './policy.ts';

export interface MemoryNeed {
  /** `peak` and `room` together; not rounded. */
  readonly bytes: Bytes;
  readonly peak: Bytes;
  /** Room above the peak, as a share of it. */
  readonly room: number;
}

const DAY: Millis = 86_400_000;
const SPANS_PER_DAY = DAY / PEAK_SPAN_MILLIS;

/** @returns undefined when no peak is recent enough: no history gives no value, never the smallest one. */
export function memoryNeed(peaks: readonly MemoryPeak[], target: PeakTarget, now: EpochMillis): MemoryNeed | undefined {
  const peak = recentPeak(peaks, target.lookBackMillis, now);
  if (peak === 0) return undefined;
  const room = Math.min(target.maxRoom, Math.max(target.minRoom, shownGrowth(peaks, target.lookBackMillis, now)));
  return { bytes: peak * (1 + room), peak, room };
}

/**
 * The largest rise of a recent span's peak above all peaks before it, as a share; 0 when the record never fell. What
 * comes back, day after day or at every start, is known and no growth; what grew once and then no more is forgotten as
 * peaks are.
 */
export function shownGrowth(peaks: readonly MemoryPeak[], lookBackMillis: Millis, now: EpochMillis): number {
  // The first day has nothing to be compared with.
  const oldest = Math.max(firstSpan(lookBackMillis, now), (peaks[0]?.span ?? 0) + SPANS_PER_DAY);
  let record = 0;
  let growth = 0;
  for (const { span, bytes } of peaks) {
    if (span >= oldest && record > 0) growth = Math.max(growth, bytes / record - 1);
    record = Math.max(record, bytes);
  }
  return growth;
}

/** The highest of the spans that end within `lookBackMillis` before `now`; 0 where there is none. */
export function recentPeak(peaks: readonly MemoryPeak[], lookBackMillis: Millis, now: EpochMillis): Bytes {
  const oldest = firstSpan(lookBackMillis, now);
  return Math.max(0, ...peaks.filter(({ span }) => span >= oldest).map(({ bytes }) => bytes));
}

/** The earliest span that counts as recent. */
export const firstSpan = (lookBackMillis: Millis, now: EpochMillis): number =>
  Math.floor((now - lookBackMillis) / PEAK_SPAN_MILLIS);

/**
 * The smallest peak that this share of all peaks does not exceed, an older peak weighing half for every half-life, as
 * VPA weighs them (pkg/recommender/util/decaying_histogram.go).
 * @param percentile 0..100
 * @returns undefined without peaks.
 */
export function fadingPercentile(
  peaks: readonly MemoryPeak[],
  percentile: number,
  halfLifeMillis: Millis,
): Bytes | undefined {
  const latest = peaks.at(-1)?.span;
  if (latest === undefined) return undefined;
  const weigh = (span: number): number => 2 ** (((span - latest) * PEAK_SPAN_MILLIS) / halfLifeMillis);
  const ascending = [...peaks].sort((a, b) => a.bytes - b.bytes);
  const total = peaks.reduce((sum, { span }) => sum + weigh(span), 0);
  let below = 0;
  for (const { span, bytes } of ascending) {
    below += weigh(span);
    // A hair of tolerance: the sum of all weights in another order is not the same number.
    if (below >= (percentile / 100) * total - 1e-9) return bytes;
  }
  return ascending.at(-1)?.bytes;
}
