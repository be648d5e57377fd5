/** A share as people read it: `12 %`. */

/** @param share 1 is all. @param decimals at most; zeros at the end are left out. */
export function percentText(share: number, decimals: 0 | 1 = 0): string {
  return `${Math.round(share * 10 ** (2 + decimals)) / 10 ** decimals} %`;
}
