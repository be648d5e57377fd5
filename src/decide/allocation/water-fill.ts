/**
 * Water filling: x_i(t) = clamp(d_i + w_i t, l_i, u_i) with the one level t at which the sum meets the capacity. By the
 * KKT conditions that is the maximum of sum w_i ln(x_i - d_i) in the box, and 1/t is the multiplier of the capacity.
 */

/** One entry a pod in each column; all of the same length. l <= u finite, w >= 0, d <= l. */
export interface Columns {
  readonly weight: Float64Array;
  readonly disagreement: Float64Array;
  readonly lower: Float64Array;
  readonly upper: Float64Array;
}

export interface Filled {
  readonly x: Float64Array;
  /** The level of those with weight: Infinity where capacity binds nobody. */
  readonly level: number;
}

/**
 * The exact optimum for `sum(lower) <= capacity`; everybody gets `upper` where the sum of those fits. Where pods of
 * positive weight are sated, those of weight 0 share the rest equally above their own disagreement points. O(n log n):
 * the breakpoints are sorted once, the segment found by bisection over them, the level solved in closed form.
 */
export function waterFill(columns: Columns, capacity: number): Filled {
  const { weight, lower, upper } = columns;
  const size = weight.length;
  const x = new Float64Array(size);
  let sated = 0;
  let idle = 0;
  for (let i = 0; i < size; i++) {
    const isIdle = at(weight, i) === 0;
    x[i] = isIdle ? at(lower, i) : at(upper, i);
    sated += at(x, i);
    if (isIdle) idle++;
  }
  if (sated <= capacity) {
    return { x: idle === 0 ? x : fillIdle(columns, x, capacity), level: Number.POSITIVE_INFINITY };
  }
  const level = findLevel(columns, capacity);
  for (let i = 0; i < size; i++) x[i] = valueAt(columns, i, level);
  return { x, level };
}

/** Entries of weight 0, solved among themselves with weight 1 on what the others leave. */
function fillIdle(columns: Columns, x: Float64Array, capacity: number): Float64Array {
  const members: number[] = [];
  let rest = capacity;
  for (let i = 0; i < x.length; i++) {
    if (at(columns.weight, i) === 0) members.push(i);
    else rest -= at(x, i);
  }
  const inner = waterFill(pick(columns, members, 1), rest);
  members.forEach((i, k) => {
    x[i] = at(inner.x, k);
  });
  return x;
}

/** The same columns of some pods only. */
export function pick(columns: Columns, members: readonly number[], weight?: number): Columns {
  const take = (column: Float64Array): Float64Array => Float64Array.from(members, (i) => at(column, i));
  return {
    weight: weight === undefined ? take(columns.weight) : new Float64Array(members.length).fill(weight),
    disagreement: take(columns.disagreement),
    lower: take(columns.lower),
    upper: take(columns.upper),
  };
}

function findLevel(columns: Columns, capacity: number): number {
  const points = breakpoints(columns);
  // The sum grows with the level: below points[low] it is too small, at points[high] large enough.
  let low = 0;
  let high = points.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sumAt(columns, at(points, middle)) >= capacity) high = middle;
    else low = middle + 1;
  }
  const end = points.length === 0 ? 0 : at(points, low);
  const start = low === 0 ? 0 : at(points, low - 1);
  return solveSegment(columns, capacity, start, end);
}

/** Levels at which somebody leaves the lower or meets the upper bound, ascending. */
function breakpoints({ weight, disagreement, lower, upper }: Columns): Float64Array {
  const points = new Float64Array(2 * weight.length);
  let count = 0;
  for (let i = 0; i < weight.length; i++) {
    const w = at(weight, i);
    if (w === 0) continue;
    const start = (at(lower, i) - at(disagreement, i)) / w;
    if (start > 0) points[count++] = start;
    points[count++] = (at(upper, i) - at(disagreement, i)) / w;
  }
  return points.subarray(0, count).sort();
}

/** Between two neighbouring breakpoints the sum is linear in the level. */
function solveSegment(columns: Columns, capacity: number, start: number, end: number): number {
  const { weight, disagreement, lower, upper } = columns;
  const middle = start + (end - start) / 2;
  let rest = capacity;
  let slope = 0;
  for (let i = 0; i < weight.length; i++) {
    const w = at(weight, i);
    const value = at(disagreement, i) + w * middle;
    if (w === 0 || value <= at(lower, i)) rest -= at(lower, i);
    else if (value >= at(upper, i)) rest -= at(upper, i);
    else {
      rest -= at(disagreement, i);
      slope += w;
    }
  }
  if (slope === 0) return end;
  return Math.min(end, Math.max(start, rest / slope));
}

function sumAt(columns: Columns, level: number): number {
  let sum = 0;
  for (let i = 0; i < columns.weight.length; i++) sum += valueAt(columns, i, level);
  return sum;
}

function valueAt({ weight, disagreement, lower, upper }: Columns, i: number, level: number): number {
  return Math.min(at(upper, i), Math.max(at(lower, i), at(disagreement, i) + at(weight, i) * level));
}

/** An element that is known to exist. */
export function at(column: Float64Array, index: number): number {
  return column[index] ?? 0;
}
