/** How often something happened in the recent past, by key. */
import type { Clock } from '../lib/clock.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';

export interface RecentCounts {
  /** It happens once more. @returns how often it has within the time, this one included. */
  add(key: string): number;
  /** Keys that are kept. */
  readonly size: number;
}

export function createRecentCounts(clock: Pick<Clock, 'now'>, withinMillis: Millis): RecentCounts {
  const times = new Map<string, EpochMillis[]>();
  let sweptAt = clock.now();
  /** Objects come and go, in runs of weeks by the hundred thousand. */
  const sweep = (now: EpochMillis): void => {
    if (now - sweptAt < withinMillis) return;
    sweptAt = now;
    for (const [key, all] of times) if (now - (all.at(-1) ?? 0) >= withinMillis) times.delete(key);
  };
  return {
    add(key) {
      const now = clock.now();
      sweep(now);
      const recent = (times.get(key) ?? []).filter((at) => now - at < withinMillis);
      recent.push(now);
      times.set(key, recent);
      return recent.length;
    },
    get size() {
      return times.size;
    },
  };
}
