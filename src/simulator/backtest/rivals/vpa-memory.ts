/** VPA's memory arithmetic: each replica's highest use of a day is one sample, kills are samples too; the 90th percentile, and 15 % on top. */
import { type BucketLayout, createBucketLayout } from '../../../lib/bucket-layout.ts';
import { DecayingHistogram } from '../../../lib/histogram.ts';
import type { Bytes, EpochMillis, Millis } from '../../../lib/units.ts';
import type { MemoryStrategy } from '../replay-memory.ts';
import { gateChange } from './gate.ts';

const DAY: Millis = 86_400_000;
const TARGET_PERCENTILE = 0.9;
const SAFETY_MARGIN = 1.15;
const OOM_MIN_BUMP: Bytes = 100 * 1024 * 1024;
const OOM_BUMP_RATIO = 1.2;

/** VPA's own buckets (vertical-pod-autoscaler/pkg/recommender/model/aggregations_config.go). */
export const vpaMemoryLayout: BucketLayout = createBucketLayout({ firstWidth: 1e7, ratio: 1.05, maxValue: 1e12 });

interface ReplicaWindow {
  endsAt: EpochMillis;
  peak: Bytes;
  /** Need shown by kills, which VPA keeps apart so that it does not feed on itself. */
  oomPeak: Bytes;
}

/** Without VPA's floor of 250 MiB a pod, for the same reason as its CPU. */
export function createVpaMemory(): MemoryStrategy {
  const closed = new DecayingHistogram({ layout: vpaMemoryLayout, halfLifeMillis: DAY });
  const windows = new Map<number, ReplicaWindow>();

  function windowAt(replica: number, at: EpochMillis): ReplicaWindow {
    const known = windows.get(replica);
    if (known !== undefined && at < known.endsAt) return known;
    if (known !== undefined) closed.add(Math.max(known.peak, known.oomPeak), 1, known.endsAt);
    const opened = { endsAt: (known?.endsAt ?? at) + DAY, peak: 0, oomPeak: 0 };
    while (opened.endsAt <= at) opened.endsAt += DAY;
    windows.set(replica, opened);
    return opened;
  }

  return {
    observe(replica, usage, at) {
      const window = windowAt(replica, at);
      window.peak = Math.max(window.peak, usage);
    },
    noteOom(replica, limit, at) {
      const window = windowAt(replica, at);
      const base = Math.max(limit, window.peak);
      window.oomPeak = Math.max(window.oomPeak, base + OOM_MIN_BUMP, base * OOM_BUMP_RATIO);
    },
    choose(current) {
      const all = new DecayingHistogram({ layout: vpaMemoryLayout, halfLifeMillis: DAY }, closed.state());
      // The windows still open count with their highest so far, as if they ended now as planned.
      for (const { endsAt, peak, oomPeak } of windows.values()) {
        if (Math.max(peak, oomPeak) > 0) all.add(Math.max(peak, oomPeak), 1, endsAt);
      }
      return gateChange(current, vpaTarget(all.percentile(TARGET_PERCENTILE)));
    },
  };
}

/** The value VPA shows for a percentile: whole bytes, cut. */
export function vpaTarget(percentile: Bytes): Bytes {
  return Math.trunc(percentile * SAFETY_MARGIN);
}
