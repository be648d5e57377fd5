/**
 * Lists of counts, two in each number, of whose 53 bits each has 26: a typed array of a few hundred has a buffer beside its
 * numbers that takes as much again.
 */

/** A count stays at this. */
export const MOST_COUNT = 2 ** 26 - 1;
const SECOND = MOST_COUNT + 1;

/** As many counts, or one more, each 0. */
export function pairedCounts(length: number): number[] {
  return Array.from({ length: Math.ceil(length / 2) }, () => 0);
}

/** 0 beyond the end. */
export function countAt(pairs: readonly number[], place: number): number {
  const pair = pairs[place >> 1] ?? 0;
  const second = Math.floor(pair / SECOND);
  return (place & 1) === 0 ? pair - second * SECOND : second;
}

/** @param place of one that is there. */
export function putCount(pairs: number[], place: number, count: number): void {
  const unit = (place & 1) === 0 ? 1 : SECOND;
  const change = Math.min(MOST_COUNT, count) - countAt(pairs, place);
  pairs[place >> 1] = (pairs[place >> 1] ?? 0) + change * unit;
}
