/**
 * Whole shares from real ones by largest remainder: the sum is kept, no bound is passed, nobody moves by a whole unit.
 */
import { ascending } from '../../lib/ascending.ts';
import { at } from './water-fill.ts';

export interface RoundingGroup {
  readonly cap: number;
  readonly members: readonly number[];
}

/** Sums of ten thousand doubles are off by less than this; a value so close to a whole number is that number. */
const noise = 1e-6;

/**
 * `x` must sum to a whole number within the noise; `upper` and the caps of `groups` are whole. Ties go to the larger
 * weight, then to the smaller uid. Not house-monotone: one unit more of capacity can cost somebody one unit.
 */
export function roundShares(
  x: Float64Array,
  upper: Float64Array,
  weight: Float64Array,
  uids: readonly string[],
  groups: readonly RoundingGroup[] = [],
): Float64Array {
  const whole = new Float64Array(x.length);
  let exactSum = 0;
  let wholeSum = 0;
  const candidates: number[] = [];
  for (let i = 0; i < x.length; i++) {
    const value = at(x, i);
    const floor = Math.floor(value + noise);
    whole[i] = floor;
    exactSum += value;
    wholeSum += floor;
    if (value - floor > noise && floor < at(upper, i)) candidates.push(i);
  }
  let missing = Math.round(exactSum) - wholeSum;
  if (missing <= 0) return whole;
  const rank = (i: number): number => Math.round((at(x, i) - at(whole, i)) / noise);
  const byRank = (a: number, b: number): number =>
    rank(b) - rank(a) || at(weight, b) - at(weight, a) || ascending(uids[a] ?? '', uids[b] ?? '');
  if (groups.length === 0) {
    for (const i of largest(candidates, missing, rank, byRank)) whole[i] = at(whole, i) + 1;
    return whole;
  }
  candidates.sort(byRank);
  const room = groups.map(({ cap, members }) => cap - members.reduce((sum, i) => sum + at(whole, i), 0));
  const groupsOf = memberships(groups);
  for (const i of candidates) {
    if (missing === 0) break;
    const own = groupsOf.get(i) ?? [];
    if (own.some((group) => (room[group] ?? 0) < 1)) continue;
    for (const group of own) room[group] = (room[group] ?? 0) - 1;
    whole[i] = at(whole, i) + 1;
    missing--;
  }
  return whole;
}

/** The first `count` by `compare`, which orders by descending rank first. Only those on the threshold are compared. */
function largest(
  items: readonly number[],
  count: number,
  rank: (item: number) => number,
  compare: (a: number, b: number) => number,
): number[] {
  if (count >= items.length) return [...items];
  const ranks = Float64Array.from(items, rank).sort();
  const threshold = at(ranks, items.length - count);
  const above = items.filter((item) => rank(item) > threshold);
  const ties = items.filter((item) => rank(item) === threshold).sort(compare);
  return [...above, ...ties.slice(0, count - above.length)];
}

function memberships(groups: readonly RoundingGroup[]): ReadonlyMap<number, readonly number[]> {
  const of = new Map<number, number[]>();
  groups.forEach(({ members }, group) => {
    for (const i of members) of.set(i, [...(of.get(i) ?? []), group]);
  });
  return of;
}
