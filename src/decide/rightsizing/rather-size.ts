/** Which of two sizes a pod was given. Webhooks of others round what they let through, so neither need be met exactly. */

/** Where there is only one size to compare with, this much off is another one. */
const ROUNDED_SHARE = 0.25;

/**
 * @param amount what the pod has; undefined: nothing.
 * @param other what it would have been given else; null or undefined: nothing.
 */
export function isRather(amount: number | undefined, wanted: number, other: number | null | undefined): boolean {
  if (amount === undefined) return false;
  const off = Math.abs(amount - wanted);
  return other === null || other === undefined ? off <= wanted * ROUNDED_SHARE : off <= Math.abs(amount - other);
}
