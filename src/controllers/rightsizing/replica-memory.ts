/** What the leader remembers of replicas that are sized each for itself, beside what their workload's annotation keeps. */
import type { ReplicaStates } from '../../model/replica-sizes.ts';
import type { WorkloadMemory } from './memory.ts';
import { ReplicaTurns } from './replica-turns.ts';
import { ReplicaWatches } from './replica-watches.ts';

export interface ReplicaMemory {
  readonly turns: ReplicaTurns;
  readonly watches: ReplicaWatches;
}

/**
 * Of workloads whose replicas have one size there is none; it goes with the workload's own memory. What the annotation
 * says at the first look is of other leaders.
 */
export function createReplicaMemories(): (memory: WorkloadMemory, found: ReplicaStates) => ReplicaMemory {
  const known = new WeakMap<WorkloadMemory, ReplicaMemory>();
  return (memory, found) => {
    const own = known.get(memory) ?? { turns: new ReplicaTurns(found), watches: new ReplicaWatches() };
    known.set(memory, own);
    return own;
  };
}
