/** Fairness: in which order workloads compete for the cluster-wide budget of evictions. */
import { ascending } from '../lib/ascending.ts';
import type { EpochMillis } from '../lib/units.ts';
import type { DisruptionHistory } from './history.ts';

export interface Candidate {
  /** `Deployment/shop/web`. */
  readonly key: string;
  readonly workloadUid: string;
  /** Pods on the wrong side, and replicas. */
  readonly drift: number;
  readonly replicas: number;
}

/**
 * The workload that waited longest first (one never disrupted before all others), then the one that is furthest off in
 * proportion, then by name. So with any budget every workload gets its turn before one gets its second.
 */
export function orderCandidates<C extends Candidate>(candidates: readonly C[], history: DisruptionHistory): C[] {
  const waitingSince = (candidate: C): EpochMillis =>
    history.lastDisruption(candidate.workloadUid) ?? Number.NEGATIVE_INFINITY;
  const share = ({ drift, replicas }: C): number => drift / Math.max(1, replicas);
  return candidates
    .map((candidate) => ({ candidate, since: waitingSince(candidate), share: share(candidate) }))
    .sort(
      (a, b) =>
        ascending(a.since, b.since) || ascending(b.share, a.share) || ascending(a.candidate.key, b.candidate.key),
    )
    .map(({ candidate }) => candidate);
}
