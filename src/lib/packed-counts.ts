/**
 * Lists of counts, two to four in each number, of whose 53 bits a small count has 13: a typed array of a few hundred has a
 * buffer beside its numbers that takes as much again.
 */

/** A count stays at this. */
export const MOST_COUNT = 2 ** 26 - 1;

/** As many counts in a number, each below the base. */
interface Form {
  readonly each: number;
  readonly base: number;
}
const largest: Form = { each: 2, base: MOST_COUNT + 1 };
const forms: readonly Form[] = [{ each: 4, base: 2 ** 13 }, { each: 3, base: 2 ** 17 }, largest];

/** The number of its form, then counts. */
export type PackedCounts = number[];

const formOf = (counts: Readonly<PackedCounts>): Form => forms[counts[0] ?? 0] ?? largest;

/** As many counts, or a few more, each 0. @param like has the form that they are to have. */
export function packedCounts(length: number, like: Readonly<PackedCounts> = [0]): PackedCounts {
  const counts = Array.from({ length: 1 + Math.ceil(length / formOf(like).each) }, () => 0);
  counts[0] = like[0] ?? 0;
  return counts;
}

/** 0 beyond the end. */
export function countAt(counts: Readonly<PackedCounts>, place: number): number {
  const { each, base } = formOf(counts);
  const above = Math.floor((counts[1 + Math.floor(place / each)] ?? 0) / base ** (place % each));
  return above % base;
}

/**
 * @param place of one that is there.
 * @returns the same list, or one of another form, where a count has become too large for this one.
 */
export function putCount(counts: PackedCounts, place: number, count: number): PackedCounts {
  const { each, base } = formOf(counts);
  const most = Math.min(MOST_COUNT, count);
  if (most >= base) return putCount(widened(counts), place, most);
  const at = 1 + Math.floor(place / each);
  counts[at] = (counts[at] ?? 0) + (most - countAt(counts, place)) * base ** (place % each);
  return counts;
}

function widened(counts: Readonly<PackedCounts>): PackedCounts {
  const length = (counts.length - 1) * formOf(counts).each;
  const wider = packedCounts(length, [(counts[0] ?? 0) + 1]);
  for (let place = 0; place < length; place++) putCount(wider, place, countAt(counts, place));
  return wider;
}
