/** Which of the nodes that can take a pod is best: the scheduler's scores, with Kubernetes' default weights. */
import { ownMember } from '../../lib/own-member.ts';
import type { Random } from '../../lib/random.ts';
import type { ClusterState, NodeState } from './cluster-state.ts';
import { matchesTerm, untoleratedTaints } from './node-matching.ts';
import type { PodInfo } from './pod-info.ts';

/** Source: pkg/scheduler/apis/config/v1/default_plugins.go; plugins that score nothing here are left out. */
const WEIGHTS = { leastAllocated: 1, balanced: 1, preferredAffinity: 2, spread: 2, taints: 3 } as const;
const MAX_SCORE = 100;
/** Pods without requests still count a little, or they would all land on one node. Source: pkg/scheduler/util. */
const DEFAULT_REQUESTS: ReadonlyMap<string, number> = new Map([
  ['cpu', 100],
  ['memory', 200 * 1024 * 1024],
]);

/** The best of `feasible`; ties are broken by `random`. Undefined when there is none. */
export function bestNode(
  info: PodInfo,
  feasible: readonly NodeState[],
  cluster: ClusterState,
  random: Random,
): NodeState | undefined {
  if (feasible.length <= 1) return feasible[0];
  const totals = new Float64Array(feasible.length);
  const addScores = (weight: number, scores: readonly number[]): void => {
    for (const [index, score] of scores.entries()) totals[index] = (totals[index] ?? 0) + weight * score;
  };
  addScores(
    WEIGHTS.leastAllocated,
    feasible.map((state) => leastAllocated(info, state)),
  );
  addScores(
    WEIGHTS.balanced,
    feasible.map((state) => balanced(info, state)),
  );
  addScores(
    WEIGHTS.preferredAffinity,
    normalized(
      feasible.map((state) => preferredAffinity(info, state)),
      false,
    ),
  );
  addScores(
    WEIGHTS.taints,
    normalized(
      feasible.map((state) => preferredTaints(info, state)),
      true,
    ),
  );
  addScores(WEIGHTS.spread, spreadScores(info, feasible, cluster));

  let best: NodeState | undefined;
  let bestScore = Number.NEGATIVE_INFINITY;
  let ties = 0;
  for (const [index, state] of feasible.entries()) {
    const score = totals[index] ?? 0;
    if (score > bestScore) {
      best = state;
      bestScore = score;
      ties = 1;
    } else if (score === bestScore) {
      // Reservoir sampling: each of the tied nodes is chosen with equal chance.
      ties++;
      if (random.next() * ties < 1) best = state;
    }
  }
  return best;
}

function usedShare(info: PodInfo, state: NodeState, resource: string): number {
  const allocatable = state.allocatable.get(resource) ?? 0;
  if (allocatable === 0) return 1;
  const request = info.requests.get(resource) || (DEFAULT_REQUESTS.get(resource) ?? 0);
  return Math.min(1, ((state.requested.get(resource) ?? 0) + request) / allocatable);
}

/** 0..100: the mean of what would be free of CPU and of memory. Source: noderesources/least_allocated.go. */
function leastAllocated(info: PodInfo, state: NodeState): number {
  const free = 2 - usedShare(info, state, 'cpu') - usedShare(info, state, 'memory');
  return Math.floor((free * MAX_SCORE) / 2);
}

/**
 * 0..100: the standard deviation of two shares is half their distance. Source: noderesources/balanced_allocation.go.
 */
function balanced(info: PodInfo, state: NodeState): number {
  const deviation = Math.abs(usedShare(info, state, 'cpu') - usedShare(info, state, 'memory')) / 2;
  return Math.floor((1 - deviation) * MAX_SCORE);
}

function preferredAffinity(info: PodInfo, state: NodeState): number {
  const preferred = info.spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return preferred.reduce((sum, { weight, preference }) => sum + (matchesTerm(preference, state.node) ? weight : 0), 0);
}

function preferredTaints(info: PodInfo, state: NodeState): number {
  return untoleratedTaints(state.node.spec?.taints, info.spec.tolerations, ['PreferNoSchedule']).length;
}

/**
 * Fewer pods of the group in a node's domain is better; topologies with more domains weigh more, by the logarithm. Only
 * soft constraints score; hard ones are filters. Source: podtopologyspread/scoring.go.
 */
function spreadScores(info: PodInfo, feasible: readonly NodeState[], cluster: ClusterState): number[] {
  const soft = info.spread.filter((constraint) => !constraint.isHard);
  if (soft.length === 0) return feasible.map(() => 0);
  const raw = feasible.map(() => 0);
  for (const { group, topologyKey, maxSkew } of soft) {
    const counts = cluster.countsOf(group);
    const domainOf = ({ node, name }: NodeState): string =>
      topologyKey === 'kubernetes.io/hostname' ? name : (ownMember(node.metadata?.labels, topologyKey) ?? '');
    const inDomain = new Map<string, number>();
    for (const state of feasible) inDomain.set(domainOf(state), 0);
    const weight = Math.log(inDomain.size + 2);
    for (const state of cluster.nodes()) {
      const count = counts.get(state.name);
      const domain = domainOf(state);
      const known = inDomain.get(domain);
      if (count !== undefined && known !== undefined) inDomain.set(domain, known + count);
    }
    for (const [index, state] of feasible.entries()) {
      raw[index] = (raw[index] ?? 0) + (inDomain.get(domainOf(state)) ?? 0) * weight + maxSkew - 1;
    }
  }
  const highest = Math.max(...raw);
  const lowest = Math.min(...raw);
  return raw.map((value) => (highest === 0 ? MAX_SCORE : (MAX_SCORE * (highest + lowest - value)) / highest));
}

/** Scales to 0..100 by the largest; `reverse` where less is better. */
function normalized(scores: readonly number[], reverse: boolean): number[] {
  const highest = Math.max(...scores);
  return scores.map((score) => {
    const scaled = highest === 0 ? 0 : Math.floor((score * MAX_SCORE) / highest);
    return reverse ? MAX_SCORE - scaled : scaled;
  });
}
