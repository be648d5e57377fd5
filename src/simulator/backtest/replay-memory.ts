/**
 * Replays the memory a workload wants: requests are limits, so a replica that wants more is killed. The strategy hears
 * of the kill as an operator would, and what it chooses next holds from the next sample on.
 */
import type { Bytes, EpochMillis, Millis } from '../../lib/units.ts';
import type { MemoryTrace } from './memory-trace.ts';

/**
 * Chooses one value for all replicas, in bytes: request and limit in one. A kill is told before the use of the same
 * instant, and what is chosen at an instant is in force from the next one on.
 */
export interface MemoryStrategy {
  /** What a replica used, as metrics tell: never more than it had, and nothing in a gap. */
  observe(replica: number, usage: Bytes, at: EpochMillis): void;
  /** @param limit what the replica had when it was killed. How much it wanted nobody is told. */
  noteOom(replica: number, limit: Bytes, at: EpochMillis): void;
  choose(current: Bytes | undefined, at: EpochMillis): Bytes;
  /**
   * A value for one replica alone; undefined: it has, or keeps, what all have. Left out: all have one value.
   * @param current what it has; undefined before the first request.
   */
  chooseOwn?(replica: number, current: Bytes | undefined, at: EpochMillis): Bytes | undefined;
}

/**
 * Over the judged time; `requested` and `unused` are bytes times samples of replicas. A replica that is killed leaves
 * nothing unused, though it does nothing meanwhile: kills are counted by themselves.
 */
export interface MemorySums {
  readonly trace: string;
  /** Kills: one for each sample in which a replica wanted more than it had. */
  readonly ooms: number;
  /** The most kills of one replica, sample after sample, before a value sufficed. */
  readonly longestStreak: number;
  readonly requested: number;
  readonly unused: number;
  /**
   * Of the one value for all replicas, those after kills included; the first is none. Of values of their own, as many as
   * a replica has on average.
   */
  readonly changes: number;
  /** Judged, without gaps in which there is no point at all. */
  readonly days: number;
}

const DAY_MILLIS = 86_400_000;
const COOLDOWN_MILLIS: Millis = 3_600_000;
/**
 * All traces are in steps of five minutes: those that are made up, and what is asked of a Prometheus (STEP_MILLIS of
 * open-history.ts).
 */
const STEPS_A_DAY = 288;

/**
 * What no single value for all replicas can beat for long: the highest use of the judged time, known beforehand and
 * given to each of them. One hot replica of ten leaves the memory of nine idle, whoever chooses the value.
 */
export function leastConstant({ name, points }: MemoryTrace): MemorySums {
  const judged = points.filter(({ at }) => at > (points[0]?.at ?? 0) + DAY_MILLIS);
  const least = judged.reduce((most, { demand }) => Math.max(most, ...demand), 0);
  const demands = judged.flatMap(({ demand }) => demand);
  const requested = least * demands.length;
  const unused = demands.reduce((sum, demand) => sum + least - demand, 0);
  return { trace: name, ooms: 0, longestStreak: 0, requested, unused, changes: 0, days: judged.length / STEPS_A_DAY };
}

/**
 * Judged after a day of warm-up, in which nothing is limited.
 * @param cooldownMillis least time between two changes, kills apart.
 */
export function replayMemory(
  trace: MemoryTrace,
  strategy: MemoryStrategy,
  cooldownMillis: Millis = COOLDOWN_MILLIS,
): MemorySums {
  const sums = { ooms: 0, longestStreak: 0, requested: 0, unused: 0, changes: 0, judged: 0 };
  const start = trace.points[0]?.at ?? 0;
  const streaks = new Map<number, number>();
  /** By replica: what it has for itself, and until when that stays. */
  const own = new Map<number, { request: Bytes; frozenUntil: EpochMillis }>();
  let request: Bytes | undefined;
  let frozenUntil = start + DAY_MILLIS;
  for (const { at, demand, replicas, isSeen } of trace.points) {
    const killed = new Set<number>();
    for (const [place, wanted] of demand.entries()) {
      const replica = replicas?.[place] ?? place;
      const has = own.get(replica)?.request ?? request;
      const isKilled = has !== undefined && wanted > has;
      if (has !== undefined) {
        sums.requested += has;
        sums.unused += Math.max(0, has - wanted);
      }
      if (isKilled && has !== undefined) {
        killed.add(replica);
        sums.ooms++;
        streaks.set(replica, (streaks.get(replica) ?? 0) + 1);
        sums.longestStreak = Math.max(sums.longestStreak, streaks.get(replica) ?? 0);
        // Kills are told by the API server and not by the metrics, so a gap does not hide them.
        strategy.noteOom(replica, has, at);
      } else streaks.delete(replica);
      if (isSeen) strategy.observe(replica, Math.min(wanted, has ?? wanted), at);
    }
    if (request !== undefined) sums.judged++;
    const current = request;
    if (at >= start + DAY_MILLIS) {
      for (const place of demand.keys()) {
        const replica = replicas?.[place] ?? place;
        const known = own.get(replica);
        if (at < (known?.frozenUntil ?? 0) && !killed.has(replica)) continue;
        const has = known?.request ?? current;
        const chosen = strategy.chooseOwn?.(replica, has, at);
        if (chosen === undefined || chosen === known?.request) continue;
        const isChange = has !== undefined && chosen !== has;
        own.set(replica, { request: chosen, frozenUntil: isChange ? at + cooldownMillis : at });
        if (isChange) sums.changes += 1 / demand.length;
      }
    }
    // A kill is answered at once, as VPA's updater does for a quick out-of-memory kill.
    if (at < frozenUntil && !(killed.size > 0 && current !== undefined)) continue;
    const chosen = strategy.choose(request, at);
    if (chosen === request) continue;
    if (request !== undefined) sums.changes++;
    request = chosen;
    frozenUntil = at + cooldownMillis;
  }
  const { judged, ...rest } = sums;
  return { trace: trace.name, ...rest, days: judged / STEPS_A_DAY };
}

/** `slack` in 0..1, kills as they are, changes a day of one workload. */
export interface MemoryFigures {
  readonly slack: number;
  readonly ooms: number;
  readonly longestStreak: number;
  readonly changesPerDay: number;
}

/** As if all were one trace: long traces count for more. */
export function poolMemory(all: readonly MemorySums[]): MemoryFigures {
  const sum = (key: 'requested' | 'unused' | 'ooms' | 'changes' | 'days'): number =>
    all.reduce((total, sums) => total + sums[key], 0);
  return {
    slack: sum('requested') > 0 ? sum('unused') / sum('requested') : 0,
    ooms: sum('ooms'),
    longestStreak: Math.max(0, ...all.map(({ longestStreak }) => longestStreak)),
    changesPerDay: sum('days') > 0 ? sum('changes') / sum('days') : 0,
  };
}
