/** Binary search by a question in place of a value. */

/** The first index from `from` on and below `end` that holds, or `end`; all after one that holds do, too. */
export function firstIndex(end: number, holds: (index: number) => boolean, from = 0): number {
  let low = from;
  let high = end;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
