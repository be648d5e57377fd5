/** What is known of a container's CPU usage: a histogram of the last day, and one of all days that fades. */
import { createBucketLayout } from '../lib/bucket-layout.ts';
import { decodeCounts, encodeCounts } from '../lib/count-codec.ts';
import { DecayingHistogram, type HistogramState } from '../lib/histogram.ts';
import { decodeHistogram, encodeHistogram } from '../lib/histogram-codec.ts';
import { SpanHistogram, type SpanHistogramState } from '../lib/span-histogram.ts';
import type { EpochMillis, Millicores, Millis } from '../lib/units.ts';

/** From 1 millicore to 1,000 cores, 5 % wide. VPA begins at 10 millicores, more than most idle containers use. */
export const cpuLayout = createBucketLayout({ firstWidth: 1, ratio: 1.05, maxValue: 1_000_000 });

/** Length of the spans by which the last day is remembered. */
export const CPU_SPAN_MILLIS: Millis = 6 * 3_600_000;

/**
 * The last day: four spans of six hours, the current one among them, and one more for what must be right for longer.
 * With fewer, a daily peak would be forgotten each day.
 */
const DAY_SPANS = { layout: cpuLayout, spanMillis: CPU_SPAN_MILLIS, spans: 5 };

export interface CpuHistoryOptions {
  /** Half-life of the histogram that knows what is usual. */
  readonly usualHalfLifeMillis: Millis;
}

/** The last spans in their saved form; `counts` is text of lib/count-codec.ts. */
export interface SavedDay {
  readonly spans: readonly number[];
  readonly first: number;
  readonly counts: string;
}

export interface SavedCpuHistory {
  readonly usual: string;
  readonly day: SavedDay;
  readonly samples: number;
  readonly firstAt?: EpochMillis;
  readonly lastAt?: EpochMillis;
}

/**
 * Two memories of the same samples: `usual` fades and answers what is usual, `day` does not and knows each recent peak.
 */
export class CpuHistory {
  readonly usual: DecayingHistogram;
  /** Of the last five spans of six hours in which anything was seen. */
  readonly day: SpanHistogram;
  #samples: number;
  #firstAt: EpochMillis | undefined;
  #lastAt: EpochMillis | undefined;

  /** @throws InvalidValueError when a saved histogram cannot be read. */
  constructor(options: CpuHistoryOptions, saved?: SavedCpuHistory) {
    this.usual = openHistogram(options.usualHalfLifeMillis, saved?.usual);
    this.day = new SpanHistogram(DAY_SPANS, saved && { ...saved.day, counts: decodeCounts(saved.day.counts) });
    this.#samples = saved?.samples ?? 0;
    this.#firstAt = saved?.firstAt;
    this.#lastAt = saved?.lastAt;
  }

  /** Samples taken in all. */
  samples(): number {
    return this.#samples;
  }

  firstAt(): EpochMillis | undefined {
    return this.#firstAt;
  }

  lastAt(): EpochMillis | undefined {
    return this.#lastAt;
  }

  /** One sample of one replica. Values that are negative or no numbers are ignored, as VPA ignores them. */
  add(usage: Millicores, at: EpochMillis): void {
    if (!(usage >= 0) || !Number.isFinite(usage) || !Number.isFinite(at)) return;
    this.usual.add(usage, 1, at);
    this.day.add(usage, at);
    this.#samples++;
    this.#firstAt = Math.min(this.#firstAt ?? at, at);
    this.#lastAt = Math.max(this.#lastAt ?? at, at);
  }

  save(): SavedCpuHistory {
    return this.#saved(this.usual.state(), this.day.state());
  }

  /** What to save where another half-life is to hold from now on: what counted how much at the last sample stays. */
  saveForOtherHalfLife(): SavedCpuHistory {
    const at = this.#lastAt;
    return at === undefined ? this.save() : this.#saved(this.usual.stateAt(at), this.day.state());
  }

  #saved(usual: HistogramState, day: SpanHistogramState): SavedCpuHistory {
    return {
      usual: encodeHistogram(usual),
      day: { ...day, counts: encodeCounts(day.counts) },
      samples: this.#samples,
      ...(this.#firstAt === undefined ? {} : { firstAt: this.#firstAt }),
      ...(this.#lastAt === undefined ? {} : { lastAt: this.#lastAt }),
    };
  }
}

function openHistogram(halfLifeMillis: Millis, text: string | undefined): DecayingHistogram {
  return new DecayingHistogram(
    { layout: cpuLayout, halfLifeMillis },
    text === undefined ? undefined : decodeHistogram(text),
  );
}
