/** Memory: the highest recent use and as much room above it as the container has shown to fill within a day. */
import type { Bytes, EpochMillis, Millis } from '../../lib/units.ts';
import { type MemoryPeak, PEAK_SPAN_MILLIS } from '../../model/usage-memory.ts';
import type { PeakTarget } from './policy.ts';

export interface MemoryNeed {
  readonly bytes: Bytes;
  readonly peak: Bytes;
  /** Room above the peak, as a share of it. */
  readonly room: number;
}

const DAY: Millis = 86_400_000;
const SPANS_PER_DAY = DAY / PEAK_SPAN_MILLIS;

/** @returns undefined when no peak is recent enough: no history gives no value, never the smallest one. */
export function memoryNeed(peaks: readonly MemoryPeak[], target: PeakTarget, now: EpochMillis): MemoryNeed | undefined {
  const oldest = Math.floor((now - target.lookBackMillis) / PEAK_SPAN_MILLIS);
  const peak = Math.max(0, ...peaks.filter(({ span }) => span >= oldest).map(({ bytes }) => bytes));
  if (peak === 0) return undefined;
  const room = Math.min(target.maxRoom, Math.max(target.minRoom, shownGrowth(peaks)));
  return { bytes: peak * (1 + room), peak, room };
}

/**
 * The largest rise of a span's peak above all peaks before it, as a share; 0 when the record never fell. What comes back,
 * day after day or at every start, is known and no growth.
 */
export function shownGrowth(peaks: readonly MemoryPeak[]): number {
  const first = peaks[0]?.span ?? 0;
  let record = 0;
  let growth = 0;
  for (const { span, bytes } of peaks) {
    // The first day has nothing to be compared with.
    if (span >= first + SPANS_PER_DAY && record > 0) growth = Math.max(growth, bytes / record - 1);
    record = Math.max(record, bytes);
  }
  return growth;
}
