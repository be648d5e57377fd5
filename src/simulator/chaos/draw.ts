/** Drawing by chance, as random scenarios need it. */
import type { Random } from '../../lib/random.ts';

export interface Draw {
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
  chance(probability: number): boolean;
  /** @throws RangeError when there is nothing. */
  pick<T>(from: readonly T[]): T;
  /** The first ones, as many as chance says; `most` and what there is are not exceeded. */
  some<T>(from: readonly T[], least: number, most: number): T[];
}

export function createDraw(random: Random): Draw {
  const between = (low: number, high: number): number => low + Math.floor(random.next() * (high - low + 1));
  const pick = <T>(from: readonly T[]): T => {
    const [chosen] = from.slice(between(0, from.length - 1));
    if (chosen === undefined && !from.includes(chosen as T)) throw new RangeError('nothing to pick from');
    return chosen as T;
  };
  return {
    between,
    chance: (probability) => random.next() < probability,
    pick,
    some: (from, least, most) => from.slice(0, between(least, Math.min(most, from.length))),
  };
}
