/** The Kalai-Smorodinsky solution, for comparison: all get the same part of the way from their claim to their ideal. */
import type { Problem } from './problem.ts';

/**
 * Exact shares in the order of the bids. The ideal is what a pod wants, at most the capacity. In overload claims scale
 * down.
 */
export function kalaiSmorodinsky({ bids, capacity }: Pick<Problem, 'bids' | 'capacity'>): number[] {
  const claims = bids.reduce((sum, { min }) => sum + min, 0);
  if (claims > capacity) return bids.map(({ min }) => (min * capacity) / claims);
  const ways = bids.map(({ min, max }) => Math.max(min, Math.min(max, capacity)) - min);
  const length = ways.reduce((sum, way) => sum + way, 0);
  const part = length === 0 ? 0 : Math.min(1, (capacity - claims) / length);
  return bids.map(({ min }, index) => min + part * (ways[index] ?? 0));
}
