/** What a replay is judged by, for one series and for many. */
import type { Millis } from '../../lib/units.ts';

/**
 * Sums over the judged samples of one series, so that several can be pooled. Every sample counts alike, however long
 * until the next: of series with steps that differ, those with the finer ones weigh more in what is pooled ({@link
 * PooledFigures.meanSlack} weighs all alike).
 */
export interface ReplaySums {
  /** Of all replicas together. */
  readonly samples: number;
  /** Time that was judged, gaps apart; replicas do not count twice. */
  readonly millis: Millis;
  /** Requested, used, requested but unused, and used beyond the request: millicores times samples. */
  readonly requested: number;
  readonly used: number;
  readonly unused: number;
  readonly missing: number;
  /** Samples in which usage was above the request. */
  readonly exceeded: number;
  readonly changes: number;
}

/** What a strategy is judged by; the smaller, the better, each at the cost of the others. */
export interface Figures {
  /** Share of what was requested that lay idle, 0..1. */
  readonly slack: number;
  /** Share of the samples in which usage was above the request, 0..1. */
  readonly underProvisioned: number;
  /** Usage beyond the request as a share of all usage, 0..1. */
  readonly deficit: number;
  /**
   * Changes of one container's request in a day, on average; the first request is none, and all replicas change at
   * once.
   */
  readonly changesPerDay: number;
}

export interface PooledFigures extends Figures {
  /** Slack of each series, averaged: small series count as much as large ones. */
  readonly meanSlack: number;
  readonly series: number;
}

const DAY: Millis = 86_400_000;
/** Of nothing there is no share: 0, not a division by it. */
const ratio = (part: number, whole: number): number => (whole > 0 ? part / whole : 0);

export function figuresOf(sums: ReplaySums): Figures {
  return {
    slack: ratio(sums.unused, sums.requested),
    underProvisioned: ratio(sums.exceeded, sums.samples),
    deficit: ratio(sums.missing, sums.used),
    changesPerDay: ratio(sums.changes * DAY, sums.millis),
  };
}

/** All series as if they were one, and the mean of their slack. */
export function poolFigures(all: readonly ReplaySums[]): PooledFigures {
  const sum = (key: keyof ReplaySums): number => all.reduce((total, sums) => total + sums[key], 0);
  const pooled: ReplaySums = {
    samples: sum('samples'),
    millis: sum('millis'),
    requested: sum('requested'),
    used: sum('used'),
    unused: sum('unused'),
    missing: sum('missing'),
    exceeded: sum('exceeded'),
    changes: sum('changes'),
  };
  const meanSlack = ratio(
    all.reduce((total, sums) => total + figuresOf(sums).slack, 0),
    all.length,
  );
  return { ...figuresOf(pooled), meanSlack, series: all.length };
}
