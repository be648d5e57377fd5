/** Looking for nodes that can take a pod: all of them in small clusters, enough of them in large ones. */
import type { NodeState } from './cluster-state.ts';
import type { Refusal } from './failure-message.ts';
import type { NodeFilter } from './filters.ts';

/** Source: pkg/scheduler/schedule_one.go `numFeasibleNodesToFind`. */
const ALL_BELOW = 100;
const LEAST_PERCENT = 5;
/** Steps through the list; one that does not divide its length visits every node once. */
const STRIDES = [7, 11, 13, 17, 19];

export interface SearchResult {
  readonly feasible: readonly NodeState[];
  /** Why the nodes looked at refused; all nodes when none was feasible. */
  readonly refusals: readonly Refusal[];
  /** Where the next search should begin, so that all nodes get their turn. */
  readonly next: number;
}

/** How many feasible nodes are enough to choose from in a cluster of `nodes`: all below 100, then 50 % shrinking to 5 %. */
export function enoughNodes(nodes: number): number {
  if (nodes < ALL_BELOW) return nodes;
  const percent = Math.max(LEAST_PERCENT, Math.trunc(50 - nodes / 125));
  return Math.max(ALL_BELOW, Math.trunc((nodes * percent) / 100));
}

/**
 * Visits nodes from `start` on, in strides, so that a part of the list is a fair sample even where nodes are listed zone
 * by zone, until there are enough.
 */
export function searchNodes(nodes: readonly NodeState[], start: number, refuse: NodeFilter): SearchResult {
  const enough = enoughNodes(nodes.length);
  const stride = enough === nodes.length ? 1 : (STRIDES.find((each) => nodes.length % each !== 0) ?? 1);
  const feasible: NodeState[] = [];
  const refusals: Refusal[] = [];
  let index = nodes.length === 0 ? 0 : start % nodes.length;
  for (let visited = 0; visited < nodes.length && feasible.length < enough; visited++) {
    const state = nodes[index];
    index = (index + stride) % nodes.length;
    const refusal = state === undefined ? undefined : refuse(state);
    if (refusal !== undefined) refusals.push(refusal);
    else if (state !== undefined) feasible.push(state);
  }
  return { feasible, refusals, next: index };
}
