/**
 * Integration 8, node affinity (off by default): a pod on a node it prefers bargains with slightly more weight, one on
 * a node that its required terms no longer match with less. Affinity between pods has no effect.
 */

import { matchesNodeTerms } from '../../../model/node-fit.ts';
import type { NodeRecord, NodeSelectorTerm } from '../../../model/records.ts';

export interface AffinityFact {
  readonly required: readonly NodeSelectorTerm[] | undefined;
  readonly preferred: readonly { readonly weight: number; readonly term: NodeSelectorTerm }[];
}

const LEAST = 0.95;
const SPAN = 0.1;
const NO_LONGER_MATCHED = 0.9;

/**
 * 0.95..1.05 by the part of preferred weight that the node meets; times 0.9 where required terms are not met any more.
 */
export function affinityFactor(
  { required, preferred }: AffinityFact,
  node: Pick<NodeRecord, 'name' | 'labels'>,
): { readonly factor: number; readonly isRequiredBroken: boolean } {
  const isRequiredBroken = required !== undefined && !matchesNodeTerms(required, node);
  const total = preferred.reduce((sum, { weight }) => sum + weight, 0);
  const met = preferred.reduce((sum, { weight, term }) => sum + (matchesNodeTerms([term], node) ? weight : 0), 0);
  const preference = total === 0 ? 1 : LEAST + SPAN * (met / total);
  return { factor: preference * (isRequiredBroken ? NO_LONGER_MATCHED : 1), isRequiredBroken };
}
