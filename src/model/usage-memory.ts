/** What is known of a container's memory: the highest use in each span of a few hours, and the last time it was too little. */
import type { Bytes, EpochMillis, Millis } from '../lib/units.ts';

/** Length of the span one peak stands for. */
export const PEAK_SPAN_MILLIS: Millis = 6 * 3_600_000;
/** Eight days of peaks, as many as VPA keeps. */
const MAX_PEAKS = 32;
/** What an out-of-memory kill shows to be needed beyond what was there (VPA: oomMinBumpUp, oomBumpUpRatio). */
const OOM_MIN_STEP: Bytes = 100 * 1024 * 1024;
const OOM_RATIO = 1.2;
/** A kill this soon after another says that the step was too small. */
const OOM_AGAIN_MILLIS: Millis = 24 * 3_600_000;

export interface MemoryPeak {
  /** Number of the span since the epoch. */
  readonly span: number;
  readonly bytes: Bytes;
}

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
  readonly lastAt?: EpochMillis;
}

export interface MemoryHistory {
  /** In order of time; spans without samples are missing. */
  peaks(): readonly MemoryPeak[];
  /** The last out-of-memory kill, whatever came after it. */
  oom(): OomNeed | undefined;
  lastAt(): EpochMillis | undefined;
  /**
   * One sample of one replica. Each span keeps its highest, so the hottest of the replicas is never averaged away.
   * Values that are not above 0 or no numbers are ignored: nothing that runs uses no memory.
   */
  add(usage: Bytes, at: EpochMillis): void;
  /**
   * A replica was killed for want of memory. Never ignored for its order in time (kubernetes/autoscaler#3078, #8548).
   * @param limit what it had when it was killed.
   */
  noteOom(limit: Bytes, at: EpochMillis): void;
  save(): SavedMemoryHistory;
}

export function createMemoryHistory(saved?: SavedMemoryHistory): MemoryHistory {
  let peaks: MemoryPeak[] = (saved?.peaks ?? []).map(([span, bytes]) => ({ span, bytes }));
  let oom = saved?.oom;
  let lastAt = saved?.lastAt;

  const highest = (): Bytes => Math.max(0, ...peaks.map(({ bytes }) => bytes));

  return {
    peaks: () => peaks,
    oom: () => oom,
    lastAt: () => lastAt,
    add(usage, at) {
      if (!(usage > 0) || !Number.isFinite(usage) || !Number.isFinite(at)) return;
      lastAt = Math.max(lastAt ?? at, at);
      const span = Math.floor(at / PEAK_SPAN_MILLIS);
      const last = peaks.at(-1);
      if (last?.span === span && last.bytes >= usage) return;
      const others = peaks.filter((peak) => peak.span !== span);
      const known = peaks.find((peak) => peak.span === span)?.bytes ?? 0;
      peaks = [...others, { span, bytes: Math.max(known, usage) }].sort((a, b) => a.span - b.span).slice(-MAX_PEAKS);
    },
    noteOom(limit, at) {
      if (!(limit > 0) || !Number.isFinite(limit) || !Number.isFinite(at)) return;
      const isAgain = oom !== undefined && at - oom.at < OOM_AGAIN_MILLIS;
      const count = isAgain ? (oom?.count ?? 0) + 1 : 1;
      // Usage seen above the limit is another replica's, or an older and larger limit's: the need is beyond both.
      const base = Math.max(limit, highest());
      // Each kill in a row doubles the step: 20 %, 40 %, 80 %.
      const step = Math.max(OOM_MIN_STEP, (OOM_RATIO - 1) * base) * 2 ** Math.min(count - 1, 3);
      oom = { bytes: Math.ceil(Math.max(base + step, isAgain ? (oom?.bytes ?? 0) : 0)), at, count };
    },
    save: () => ({
      peaks: peaks.map(({ span, bytes }) => [span, bytes]),
      ...(oom === undefined ? {} : { oom }),
      ...(lastAt === undefined ? {} : { lastAt }),
    }),
  };
}
