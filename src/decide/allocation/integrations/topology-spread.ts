/**
 * Integration 7, topology spread (off by default): where a workload has fewer replicas in a domain than elsewhere, each
 * of them serves more, and bargains with more weight. Claims never change. A ceiling by what its like have is another
 * choice.
 */
import type { Millicores } from '../../../lib/units.ts';
import type { Bound } from '../bounds.ts';

/** One constraint on zone or hostname whose selector matches the pod itself. */
export interface SpreadFact {
  /** Replicas in the pod's own domain, the pod included, and in each domain on average of those that can have one. */
  readonly replicasHere: number;
  readonly averageReplicas: number;
}

const LEAST = 0.8;
const MOST = 1.25;

/** 0.8..1.25; 1 where nothing is known. */
export function spreadFactor(facts: readonly SpreadFact[]): number {
  const factors = facts
    .filter(({ replicasHere, averageReplicas }) => replicasHere > 0 && averageReplicas > 0)
    .map(({ replicasHere, averageReplicas }) => averageReplicas / replicasHere);
  const product = factors.reduce((all, factor) => all * factor, 1);
  return Math.min(MOST, Math.max(LEAST, product));
}

const ABOVE_MEDIAN = 1.5;

/**
 * No replica gets more than half again what those of its workload have in the middle. @param median undefined: not
 * known.
 */
export function medianBound(median: Millicores | undefined): Bound[] {
  if (median === undefined) return [];
  return [{ layer: 'annotation', reason: 'TopologySpread', max: Math.ceil(ABOVE_MEDIAN * median) }];
}
