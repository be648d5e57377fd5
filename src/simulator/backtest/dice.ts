/** What a made-up series draws its numbers from. */
import type { Random } from '../../lib/random.ts';

export interface Dice {
  /** A number from `low` to `high`. */
  between(low: number, high: number): number;
  /** True once in `mean` calls, on average. */
  onceIn(mean: number): boolean;
  /** Normal distribution with mean 0 and deviation 1. */
  normal(): number;
}

export function createDice(random: Random): Dice {
  return {
    between: (low, high) => low + (high - low) * random.next(),
    onceIn: (mean) => random.next() < 1 / mean,
    normal: () => Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next()),
  };
}
