/** What is known of a container's CPU usage: two fading histograms, one of the last hours and one of the last days. */
import { createBucketLayout } from '../lib/bucket-layout.ts';
import { DecayingHistogram, type HistogramState } from '../lib/histogram.ts';
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

export interface SavedCpuHistory {
  readonly usual: string;
  readonly recent: string;
  readonly samples: number;
  readonly firstAt?: EpochMillis;
  readonly lastAt?: EpochMillis;
}

export class CpuHistory {
  readonly usual: DecayingHistogram;
  readonly recent: DecayingHistogram;
  #samples: number;
  #firstAt: EpochMillis | undefined;
  #lastAt: EpochMillis | undefined;

  /** @throws InvalidValueError when a saved histogram cannot be read. */
  constructor(options: CpuHistoryOptions, saved?: SavedCpuHistory) {
    this.usual = openHistogram(options.usualHalfLifeMillis, saved?.usual);
    this.recent = openHistogram(options.recentHalfLifeMillis, saved?.recent);
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
    this.recent.add(usage, 1, at);
    this.#samples++;
    this.#firstAt = Math.min(this.#firstAt ?? at, at);
    this.#lastAt = Math.max(this.#lastAt ?? at, at);
  }

  save(): SavedCpuHistory {
    return this.#saved(this.usual.state(), this.recent.state());
  }

  /** What to save where other half-lives are to hold from now on: what counted how much at the last sample stays. */
  saveForOtherHalfLives(): SavedCpuHistory {
    const at = this.#lastAt;
    return at === undefined ? this.save() : this.#saved(this.usual.stateAt(at), this.recent.stateAt(at));
  }

  #saved(usual: HistogramState, recent: HistogramState): SavedCpuHistory {
    return {
      usual: encodeHistogram(usual),
      recent: encodeHistogram(recent),
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
