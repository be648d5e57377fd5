/** What is known of a container's CPU usage: two fading histograms, one of the last hours and one of the last days. */
import { createBucketLayout } from '../lib/bucket-layout.ts';
import { createHistogram, type DecayingHistogram } from '../lib/histogram.ts';
import { decodeHistogram, encodeHistogram } from '../lib/histogram-codec.ts';
import type { EpochMillis, Millicores, Millis } from '../lib/units.ts';

/** From 1 millicore to 1,000 cores, 5 % wide. VPA begins at 10 millicores, more than most idle containers use. */
export const cpuLayout = createBucketLayout({ firstWidth: 1, ratio: 1.05, maxValue: 1_000_000 });

export interface CpuHistoryOptions {
  /** Half-life of the histogram that knows what is usual. */
  readonly usualHalfLifeMillis: Millis;
  /** Half-life of the one that knows what is going on now. */
  readonly recentHalfLifeMillis: Millis;
}

export interface CpuHistory {
  readonly usual: DecayingHistogram;
  readonly recent: DecayingHistogram;
  /** Samples taken in all. */
  samples(): number;
  firstAt(): EpochMillis | undefined;
  lastAt(): EpochMillis | undefined;
  /** One sample of one replica. Values that are negative or no numbers are ignored, as VPA ignores them. */
  add(usage: Millicores, at: EpochMillis): void;
  save(): SavedCpuHistory;
}

export interface SavedCpuHistory {
  readonly usual: string;
  readonly recent: string;
  readonly samples: number;
  readonly firstAt?: EpochMillis;
  readonly lastAt?: EpochMillis;
}

/** @throws InvalidValueError when a saved histogram cannot be read. */
export function createCpuHistory(options: CpuHistoryOptions, saved?: SavedCpuHistory): CpuHistory {
  const open = (halfLifeMillis: Millis, text: string | undefined): DecayingHistogram =>
    createHistogram({ layout: cpuLayout, halfLifeMillis }, text === undefined ? undefined : decodeHistogram(text));
  const usual = open(options.usualHalfLifeMillis, saved?.usual);
  const recent = open(options.recentHalfLifeMillis, saved?.recent);
  let samples = saved?.samples ?? 0;
  let firstAt = saved?.firstAt;
  let lastAt = saved?.lastAt;
  return {
    usual,
    recent,
    samples: () => samples,
    firstAt: () => firstAt,
    lastAt: () => lastAt,
    add(usage, at) {
      if (!(usage >= 0) || !Number.isFinite(usage) || !Number.isFinite(at)) return;
      usual.add(usage, 1, at);
      recent.add(usage, 1, at);
      samples++;
      firstAt = Math.min(firstAt ?? at, at);
      lastAt = Math.max(lastAt ?? at, at);
    },
    save: () => ({
      usual: encodeHistogram(usual.state()),
      recent: encodeHistogram(recent.state()),
      samples,
      ...(firstAt === undefined ? {} : { firstAt }),
      ...(lastAt === undefined ? {} : { lastAt }),
    }),
  };
}
