/** Counts what happens in one simulation; judges nothing. */
import { ascending } from '../lib/ascending.ts';
import type { FleetListener, WorkloadFacts } from './fleet-watch.ts';
import type { PodFacts } from './pod-facts.ts';
import type { Tally } from './report.ts';
import type { SizeTally } from './size-judge.ts';

/** The rest of a tally is known elsewhere. */
export type RunCounts = Omit<Tally, keyof SizeTally | 'elapsedMillis' | 'evictionsBound' | 'interruptions'>;

export interface RunTally extends Required<Pick<FleetListener, 'onWorkload' | 'onWorkloadGone' | 'onPodAdded'>> {
  /** The operator had a pod evicted or deleted. @param seen as it was before; undefined: it was a stranger's */
  onRemoved(seen: PodFacts | undefined): void;
  /** The operator tells of something. */
  onEvent(reason: string): void;
  /** The operator writes anything else, but for leases. */
  onWrite(): void;
  onAdmission(): void;
  onNodeLost(): void;
  counts(): RunCounts;
  /** Events so far, by reason in order. */
  reasons(): Readonly<Record<string, number>>;
}

export function createRunTally(): RunTally {
  const counts = {
    podsPeak: 0,
    evictions: 0,
    fallbacks: 0,
    returns: 0,
    nodesLost: 0,
    rollouts: 0,
    scalings: 0,
    admissions: 0,
    unsteered: 0,
    events: 0,
    writes: 0,
  };
  const reasons = new Map<string, number>();
  let replicasNow = 0;
  return {
    onWorkload({ replicas, generation }, before) {
      replicasNow += replicas - (before?.replicas ?? 0);
      counts.podsPeak = Math.max(counts.podsPeak, replicasNow);
      if (before === undefined) return;
      if (before.replicas !== replicas) counts.scalings++;
      else if (before.generation !== generation) counts.rollouts++;
    },
    onWorkloadGone({ replicas }) {
      replicasNow -= replicas;
    },
    onPodAdded(facts, pod) {
      if (isUnsteered(facts, pod)) counts.unsteered++;
    },
    onRemoved(seen) {
      if (seen?.node === undefined) counts.fallbacks++;
      else {
        counts.evictions++;
        if (seen.isCover) counts.returns++;
      }
    },
    onEvent(reason) {
      counts.events++;
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    },
    onWrite: () => void counts.writes++,
    onAdmission: () => void counts.admissions++,
    onNodeLost: () => void counts.nodesLost++,
    counts: () => ({ ...counts }),
    reasons: () => Object.fromEntries([...reasons].sort(([left], [right]) => ascending(left, right))),
  };
}

/** Made without the webhook: the pod may be where none of its kind should be. */
export function isUnsteered({ rule }: Pick<WorkloadFacts, 'rule'>, { slot }: Pick<PodFacts, 'slot'>): boolean {
  return rule !== undefined && slot === undefined;
}
