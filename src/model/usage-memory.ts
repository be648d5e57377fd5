/**
 * What is known of a container's memory: the highest use in each span of a few hours, and the last time it was too
 * little.
 */
import type { Bytes, EpochMillis, Millis } from '../lib/units.ts';

/** Length of the span one peak stands for. */
export const PEAK_SPAN_MILLIS: Millis = 6 * 3_600_000;
/** Eight days of peaks, as many as VPA keeps. */
const MAX_PEAKS = 32;
/** What an out-of-memory kill shows to be needed beyond what was there (VPA: oomMinBumpUp, oomBumpUpRatio). */
const OOM_MIN_STEP: Bytes = 100 * 1024 * 1024;
const OOM_RATIO = 1.2;
/** Stands for no limit at all: what was used is all there is to go by. */
const UNKNOWN_LIMIT: Bytes = 1;
/** A kill this soon after another says that the step was too small. */
const OOM_AGAIN_MILLIS: Millis = 24 * 3_600_000;

/** The highest use of any replica in one span. */
export interface MemoryPeak {
  /** Number of the span since the epoch. */
  readonly span: number;
  readonly bytes: Bytes;
}

/** What an out-of-memory kill showed. It does not fade by itself; whoever reads it says for how long it counts. */
export interface OomNeed {
  /** Memory that is needed at least, as far as the kill tells. */
  readonly bytes: Bytes;
  readonly at: EpochMillis;
  /** Kills in a row, each less than a day after the one before. */
  readonly count: number;
}

export interface SavedMemoryHistory {
  readonly peaks: readonly (readonly [span: number, bytes: Bytes])[];
  readonly oom?: OomNeed;
  /** Not told by versions that did not count them: then each peak stands for one. */
  readonly samples?: number;
  /** Not told by versions that did not know it: then the oldest peak counts from the beginning of its span. */
  readonly firstAt?: EpochMillis;
  readonly lastAt?: EpochMillis;
}

/** Peaks are held as bare numbers: tens of thousands of these are in memory at a time. */
export class MemoryHistory {
  /** Peak of span s at s modulo its length; 0 where nothing was seen. As a typed array it would be twice as large. */
  readonly #ring: number[] = Array.from({ length: MAX_PEAKS }, () => 0);
  /** The latest span seen; the ring holds it and those before it. */
  #latest: number | undefined;
  #oom: OomNeed | undefined;
  #samples: number;
  #firstAt: EpochMillis | undefined;
  #lastAt: EpochMillis | undefined;

  constructor(saved?: SavedMemoryHistory) {
    for (const [span, bytes] of saved?.peaks ?? []) this.#put(span, bytes);
    this.#oom = saved?.oom;
    this.#samples = saved?.samples ?? saved?.peaks.length ?? 0;
    const [oldest] = saved?.peaks ?? [];
    this.#firstAt = saved?.firstAt ?? (oldest && oldest[0] * PEAK_SPAN_MILLIS);
    this.#lastAt = saved?.lastAt;
  }

  /** In order of time; spans without samples are missing. */
  peaks(): MemoryPeak[] {
    const peaks: MemoryPeak[] = [];
    const latest = this.#latest;
    if (latest === undefined) return peaks;
    // Asked several times for each advice: nothing is made that is not handed out.
    for (let age = MAX_PEAKS - 1; age >= 0; age--) {
      const bytes = this.#bytesOf(latest - age);
      if (bytes > 0) peaks.push({ span: latest - age, bytes });
    }
    return peaks;
  }

  /** The last out-of-memory kill, whatever came after it. */
  oom(): OomNeed | undefined {
    return this.#oom;
  }

  /** Samples taken in all. */
  samples(): number {
    return this.#samples;
  }

  lastAt(): EpochMillis | undefined {
    return this.#lastAt;
  }

  /**
   * For how long something is known: from the first sample, or the oldest peak that is still remembered, to the last
   * sample.
   */
  knownMillis(): Millis {
    const oldest = this.#oldestSpan();
    if (oldest === undefined || this.#lastAt === undefined) return 0;
    // A span begins up to six hours before anything was seen in it.
    return this.#lastAt - Math.max(oldest * PEAK_SPAN_MILLIS, this.#firstAt ?? Number.NEGATIVE_INFINITY);
  }

  /**
   * One sample of one replica. Each span keeps its highest, so the hottest of the replicas is never averaged away.
   * Values that are not above 0 or no numbers are ignored: nothing that runs uses no memory.
   */
  add(usage: Bytes, at: EpochMillis): void {
    if (!(usage > 0) || !Number.isFinite(usage) || !Number.isFinite(at)) return;
    this.#samples++;
    this.#firstAt = Math.min(this.#firstAt ?? at, at);
    this.#lastAt = Math.max(this.#lastAt ?? at, at);
    this.#put(Math.floor(at / PEAK_SPAN_MILLIS), usage);
  }

  /**
   * A replica was killed for want of memory. Never ignored for its order in time (kubernetes/autoscaler#3078, #8548).
   * @param limit what it had when it was killed; 1 where it had none: the node ran out.
   */
  noteOom(limit: Bytes, at: EpochMillis): void {
    if (!(limit > 0) || !Number.isFinite(limit) || !Number.isFinite(at)) return;
    const before = this.#oom;
    // Kills are told pod by pod, in any order. One of the day before the last says nothing any more.
    if (before !== undefined && before.at - at >= OOM_AGAIN_MILLIS) return;
    const isAgain = before !== undefined && at - before.at < OOM_AGAIN_MILLIS;
    // Killed again without having been given what the last kill showed to be needed: that is no news, however often.
    if (isAgain && limit > UNKNOWN_LIMIT && limit < before.bytes) {
      this.#oom = { ...before, at: Math.max(at, before.at) };
      return;
    }
    const count = isAgain ? before.count + 1 : 1;
    // Usage seen above the limit is another replica's, or an older and larger limit's: the need is beyond both.
    const base = Math.max(limit, ...this.#ring);
    // Each kill in a row doubles the step: 20 %, 40 %, 80 %, 160 %.
    const step = Math.max(OOM_MIN_STEP, (OOM_RATIO - 1) * base) * 2 ** Math.min(count - 1, 3);
    const bytes = Math.ceil(Math.max(base + step, isAgain ? before.bytes : 0));
    this.#oom = { bytes, at: Math.max(at, before?.at ?? at), count };
  }

  save(): SavedMemoryHistory {
    return {
      peaks: this.peaks().map(({ span, bytes }) => [span, bytes]),
      ...(this.#oom === undefined ? {} : { oom: this.#oom }),
      ...(this.#samples > 0 && { samples: this.#samples }),
      ...(this.#firstAt === undefined ? {} : { firstAt: this.#firstAt }),
      ...(this.#lastAt === undefined ? {} : { lastAt: this.#lastAt }),
    };
  }

  #bytesOf(span: number): Bytes {
    return this.#ring[placeOf(span)] ?? 0;
  }

  #oldestSpan(): number | undefined {
    const latest = this.#latest;
    if (latest === undefined) return undefined;
    for (let age = MAX_PEAKS - 1; age >= 0; age--) if (this.#bytesOf(latest - age) > 0) return latest - age;
    return undefined;
  }

  #put(span: number, bytes: Bytes): void {
    const latest = this.#latest ?? span;
    if (span <= latest - MAX_PEAKS) return;
    for (let fresh = Math.max(latest + 1, span - MAX_PEAKS + 1); fresh <= span; fresh++) this.#ring[placeOf(fresh)] = 0;
    this.#latest = Math.max(latest, span);
    const place = placeOf(span);
    this.#ring[place] = Math.max(this.#ring[place] ?? 0, bytes);
  }
}

/** Instants before 1970 have places, too. */
const placeOf = (span: number): number => ((span % MAX_PEAKS) + MAX_PEAKS) % MAX_PEAKS;
