/** A way to choose requests, as the replays drive it: ours and its rivals implement the same two functions. */
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { UsageSeries } from './usage-series.ts';

/** One container's request, chosen from nothing but what was observed before. */
export interface Strategy {
  observe(usage: number, at: EpochMillis): void;
  /**
   * The request from now on.
   * @param current what is requested now; undefined before the first request.
   * @returns `current` itself to leave it as it is.
   */
  choose(current: number | undefined, at: EpochMillis): number;
}

export interface NamedStrategy {
  readonly name: string;
  /** What it does, in a few words. */
  readonly description: string;
  /** A fresh one for each series; undefined: it has nothing to say of this one, which then is not in its figures. */
  readonly create: (series: UsageSeries) => Strategy | undefined;
  /** The least time between two changes, where the strategy has rules of its own for them; undefined: as for the others. */
  readonly cooldownMillis?: Millis | undefined;
}
