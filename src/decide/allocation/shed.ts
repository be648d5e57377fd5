/**
 * Overload: claims exceed capacity. What each claimed becomes the most it can get, the hard floor the least, and the
 * rest goes by weight: a claims problem, which no pod leaves with more than its claim and which meets the solution
 * without overload where claims just fit.
 */
import { at, type Columns, type Filled, pick, waterFill } from './water-fill.ts';

export interface Shed {
  readonly filled: Filled;
  /** Not even the floors fit; they were given all the same. */
  readonly overcommitted: boolean;
}

export function shed(columns: Columns, floors: Float64Array, tiers: Float64Array | undefined, capacity: number): Shed {
  const claims: Columns = {
    weight: columns.weight,
    disagreement: new Float64Array(floors.length),
    lower: floors,
    upper: columns.lower,
  };
  const least = total(floors);
  if (least > capacity) {
    return { filled: { x: Float64Array.from(floors), level: 0 }, overcommitted: true };
  }
  const filled = tiers === undefined ? waterFill(claims, capacity) : fillByTier(claims, tiers, capacity);
  return { filled, overcommitted: false };
}

/**
 * The highest tier first, each with whatever the floors of the lower ones leave; the level is that of the tier that is
 * cut.
 */
function fillByTier(claims: Columns, tiers: Float64Array, capacity: number): Filled {
  const x = Float64Array.from(claims.lower);
  let rest = capacity - total(claims.lower);
  let level = Number.POSITIVE_INFINITY;
  for (const tier of [...new Set(tiers)].sort((a, b) => b - a)) {
    const rows = [...tiers.keys()].filter((row) => tiers[row] === tier);
    const own = pick(claims, rows);
    const floors = total(own.lower);
    const filled = waterFill(own, rest + floors);
    rows.forEach((row, k) => {
      x[row] = at(filled.x, k);
    });
    rest -= total(filled.x) - floors;
    level = Math.min(level, filled.level);
  }
  return { x, level };
}

function total(column: Float64Array): number {
  let sum = 0;
  for (const value of column) sum += value;
  return sum;
}
