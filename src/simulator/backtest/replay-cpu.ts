/**
 * Replays recorded CPU usage: at every sample the request in force is judged first, then the strategy may learn and
 * change it.
 */
import type { Millis } from '../../lib/units.ts';
import type { ReplaySums } from './figures.ts';
import type { Strategy } from './strategy.ts';
import type { UsageSeries } from './usage-series.ts';

export interface ReplayOptions {
  /**
   * History each strategy sees before its first request; nothing is judged before that. Counted from the first sample.
   */
  readonly warmUpMillis: Millis;
  /** The least time between two changes of a request, for every strategy alike. */
  readonly cooldownMillis: Millis;
}

/** A day to learn and an hour between changes: what the operator does where nothing is said. */
export const defaultReplay: ReplayOptions = { warmUpMillis: 86_400_000, cooldownMillis: 3_600_000 };

/**
 * The time that a request was in force is counted from one sample to the next, but no more than this of it: a gap in
 * the recording is nobody's merit.
 */
const MAX_STEP_MILLIS: Millis = 3_600_000;

/**
 * Whoever is replayed is judged by the same samples: each sets its first request with the first sample after the
 * warm-up, and from the next one on it is compared. A request chosen at an instant is never compared with a sample of
 * that instant. Equal series and strategies give equal sums: nothing is drawn, and no clock is asked.
 */
export function replayCpu(series: UsageSeries, strategy: Strategy, options: ReplayOptions = defaultReplay): ReplaySums {
  const { at: instants, usage: usages, replicas } = series;
  const sums = { samples: 0, millis: 0, requested: 0, used: 0, unused: 0, missing: 0, exceeded: 0, changes: 0 };
  let previous = instants[0] ?? 0;
  let request: number | undefined;
  let frozenUntil = previous + options.warmUpMillis;
  for (const [index, at] of instants.entries()) {
    const usage = usages[index] ?? 0;
    if (request !== undefined) {
      sums.samples++;
      sums.millis += Math.min(MAX_STEP_MILLIS, at - previous);
      sums.requested += request;
      sums.used += usage;
      sums.unused += Math.max(0, request - usage);
      sums.missing += Math.max(0, usage - request);
      if (usage > request) sums.exceeded++;
    }
    previous = at;
    strategy.observe(usage, at, replicas?.[index] ?? 0);
    // All replicas of an instant are judged alike.
    if (at < frozenUntil || instants[index + 1] === at) continue;
    const chosen = strategy.choose(request, at);
    if (chosen === request) continue;
    // The first request is where the replay begins, and no change.
    if (request !== undefined) sums.changes++;
    request = chosen;
    frozenUntil = at + options.cooldownMillis;
  }
  return sums;
}
