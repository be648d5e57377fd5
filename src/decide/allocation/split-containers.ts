/** A pod's total on its containers: by what each was measured to use, within what each may have. */
import type { Millicores } from '../../lib/units.ts';
import { solve } from './solve.ts';

export interface Portion {
  readonly name: string;
  /** Measured CPU; undefined: not measured, its present value counts. */
  readonly usage: Millicores | undefined;
  readonly current: Millicores;
  readonly min: Millicores;
  readonly max: Millicores;
}

/** Nobody is without weight, so that an idle container still gets its part of what is left over. */
const LEAST_WEIGHT = 1;

/**
 * Water filling in proportion to usage. The parts add up to `total` where the bounds allow it; where even the lower
 * bounds are more, everybody gets its lower bound. A total that did not change keeps the parts as they are.
 * @param quantum parts are multiples of it, but for those that an upper bound cuts.
 */
export function splitTotal(
  total: Millicores,
  portions: readonly Portion[],
  quantum: 1 | 10 = 1,
): ReadonlyMap<string, Millicores> {
  const keep = portions.every(({ current, min, max }) => current >= min && current <= max);
  if (keep && portions.reduce((sum, { current }) => sum + current, 0) === total) {
    return new Map(portions.map(({ name, current }) => [name, current]));
  }
  const { shares } = solve({
    capacity: Math.max(total, leastOf(portions, quantum)),
    quantum,
    disagreement: 'zero',
    bids: portions.map(({ name, usage, current, min, max }) => ({
      uid: name,
      weight: Math.max(LEAST_WEIGHT, usage ?? current),
      min,
      max: Math.max(min, max),
    })),
  });
  return new Map(portions.map(({ name, min, max }, index) => [name, Math.min(shares[index] ?? 0, Math.max(min, max))]));
}

/**
 * The same portions, none of them below `least` as far as the total and their own bounds allow: what there is to give goes
 * to the smallest first.
 */
export function raisedTo(
  least: Millicores,
  total: Millicores,
  portions: readonly Portion[],
  quantum: 1 | 10 = 1,
): readonly Portion[] {
  const { shares } = solve({
    capacity: Math.max(total, leastOf(portions, quantum)),
    quantum,
    bids: portions.map(({ name, min, max }) => ({
      uid: name,
      weight: 1,
      min,
      max: Math.max(min, Math.min(max, least)),
    })),
    disagreement: 'zero',
  });
  return portions.map((portion, index) => {
    const { min, max } = portion;
    return { ...portion, min: Math.max(min, Math.min(shares[index] ?? 0, max)) };
  });
}

function leastOf(portions: readonly Portion[], quantum: 1 | 10): Millicores {
  return portions.reduce((sum, { min }) => sum + quantum * Math.ceil(min / quantum), 0);
}
