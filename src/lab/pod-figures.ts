/** What became of one pod in a run: the waiting of those it serves, and its CPU. */
import type { Millicores, Millis } from '../lib/units.ts';
import type { LabPod, PodCounters, Reply } from './substrate.ts';

/** Shares are in 0..1. */
export interface PodFigures {
  readonly pod: string;
  /** Requests sent in the time that counts; 0 for a pod that serves nobody. */
  readonly sent: number;
  /** Latency percentiles from the intended time of sending; infinite where that part was lost. */
  readonly p50Millis: number;
  readonly p95Millis: number;
  readonly p99Millis: number;
  readonly lostShare: number;
  /** Lost, or slower than {@link SLOW_MILLIS}. */
  readonly badShare: number;
  readonly usage: Millicores;
  readonly throttledMillis: Millis;
  readonly throttledShare: number;
  readonly writes: number;
}

/** A reply this late is a bad one. */
export const SLOW_MILLIS: Millis = 200;

/** What is known of a pod when it ends, or the run does. */
export interface PodOutcome {
  readonly counters: PodCounters;
  /** At the beginning of the time that counts. */
  readonly before: PodCounters | undefined;
  readonly replies: readonly Reply[];
  readonly from: Millis;
  readonly until: Millis;
  readonly writes: number;
}

export function podFigures({ name }: Pick<LabPod, 'name'>, outcome: PodOutcome): PodFigures {
  const { counters, before, from, until } = outcome;
  const replies = outcome.replies.filter(({ sentAt }) => sentAt >= from && sentAt < until);
  const latencies = replies.map(({ latencyMillis }) => latencyMillis ?? Number.POSITIVE_INFINITY).sort((a, b) => a - b);
  const share = (count: number): number => (latencies.length === 0 ? 0 : count / latencies.length);
  const periods = counters.periods - (before?.periods ?? 0);
  const throttled = counters.throttledPeriods - (before?.throttledPeriods ?? 0);
  return {
    pod: name,
    sent: latencies.length,
    p50Millis: nearestRank(latencies, 50),
    p95Millis: nearestRank(latencies, 95),
    p99Millis: nearestRank(latencies, 99),
    lostShare: share(latencies.filter((latency) => latency === Number.POSITIVE_INFINITY).length),
    badShare: share(latencies.filter((latency) => latency > SLOW_MILLIS).length),
    usage: Math.round(((counters.usedMillis - (before?.usedMillis ?? 0)) / Math.max(1, until - from)) * 1000),
    throttledMillis: counters.throttledMillis - (before?.throttledMillis ?? 0),
    throttledShare: periods > 0 ? throttled / periods : 0,
    writes: outcome.writes,
  };
}

/** The smallest value that at least this share of all does not exceed: no value is made up between answered and lost. */
function nearestRank(sorted: readonly number[], percentile: number): number {
  return sorted[Math.max(0, Math.ceil((percentile / 100) * sorted.length) - 1)] ?? 0;
}
