/** A way to choose requests, as the replays drive it: ours and its rivals implement the same two functions. */
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { UsageSeries } from './usage-series.ts';

/** One container's request, chosen from nothing but what was observed before: the present sample is judged first. */
export interface Strategy {
  /**
   * @param usage millicores.
   * @param replica which of them it is, from 0; one that takes over from another has its number.
   */
  observe(usage: number, at: EpochMillis, replica: number): void;
  /**
   * The request from now on, in millicores. Asked at most once an instant, after all of its samples, and only when a
   * change is allowed.
   * @param current what is requested now; undefined before the first request.
   * @returns `current` itself to leave it as it is.
   */
  choose(current: number | undefined, at: EpochMillis): number;
}

export interface NamedStrategy {
  readonly name: string;
  /** What it does, in a few words. */
  readonly description: string;
  /**
   * A fresh one for each series, of which only `requested` is for it to know beforehand; undefined: it has nothing to
   * say of this one, which then is not in its figures.
   */
  readonly create: (series: UsageSeries) => Strategy | undefined;
  /**
   * The least time between two changes, where the strategy has rules of its own for them; undefined: as for the others.
   */
  readonly cooldownMillis?: Millis | undefined;
}
