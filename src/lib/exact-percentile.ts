/** The percentile of the shipped Percentile strategy, from the samples themselves. */

/**
 * Linear interpolation between the two samples around rank `percentile / 100 * (n - 1)`, cut to a whole number: to the
 * last digit what OptiPod computes (its float64 is ours), so that values of an existing policy do not move.
 * @param sorted samples in ascending order, in millicores or bytes.
 * @param percentile 0..100
 * @returns 0 when there are no samples.
 */
export function exactPercentile(sorted: readonly number[], percentile: number): number {
  if (sorted.length === 0) return 0;
  const rank = (percentile / 100) * (sorted.length - 1);
  const below = Math.trunc(rank);
  const low = sorted[below] ?? 0;
  const high = sorted[below + 1];
  return high === undefined ? low : Math.trunc(low + (rank - below) * (high - low));
}
