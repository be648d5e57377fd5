/**
 * The order of numbers and of texts, for `sort`. Texts go by code unit, so that the order is the same on every machine
 * and in every locale; infinities have their place, which a difference of two would not give them.
 */
export function ascending<T extends number | bigint | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
