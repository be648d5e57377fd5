/** What the leader remembers of replicas that are sized each for itself, beside what their workload's annotation keeps. */
import type { EpochMillis } from '../../lib/units.ts';
import type { ReplicaStates } from '../../model/replica-sizes.ts';
import type { WorkloadMemory } from './memory.ts';
import type { OngoingChange } from './watches.ts';

/** When another leader changed sizes. What it raised then, and whether others waited for more, nobody knows any more. */
export interface Inherited {
  readonly byReplica: ReadonlyMap<string, EpochMillis>;
  /** The latest of them. */
  readonly lastAt: EpochMillis | undefined;
}

export interface ReplicaMemory {
  readonly inherited: Inherited;
  /** Decreases that are being watched, by replica. */
  readonly watches: Map<string, OngoingChange>;
  /** Since when a replica has no pod. */
  readonly absentSince: Map<string, EpochMillis>;
  /** Since when decreases of it that cost a restart wait for others to come with them. */
  readonly awaitingSince: Map<string, EpochMillis>;
  /** When a resource of a replica was last raised; see `restedOf`. */
  readonly raisedAt: Map<string, EpochMillis>;
  /** Since when, look by look, more memory has to wait for its turn among all changes of the cluster. */
  shortSince: EpochMillis | undefined;
  /** When it last had for long. */
  scarceAt: EpochMillis | undefined;
  /** When sizes of replicas were last written on the workload. */
  writtenAt: EpochMillis | undefined;
}

/**
 * Of workloads whose replicas have one size there is none; it goes with the workload's own memory. What the annotation
 * says at the first look is of other leaders.
 */
export function createReplicaMemories(): (memory: WorkloadMemory, found: ReplicaStates) => ReplicaMemory {
  const known = new WeakMap<WorkloadMemory, ReplicaMemory>();
  return (memory, found) => {
    const own = known.get(memory) ?? {
      inherited: inheritedFrom(found),
      watches: new Map(),
      absentSince: new Map(),
      awaitingSince: new Map(),
      raisedAt: new Map(),
      shortSince: undefined,
      scarceAt: undefined,
      writtenAt: undefined,
    };
    known.set(memory, own);
    return own;
  };
}

export function inheritedFrom(found: ReplicaStates): Inherited {
  const byReplica = new Map<string, EpochMillis>();
  for (const [replica, { changedAt }] of found) if (changedAt !== undefined) byReplica.set(replica, changedAt);
  return { byReplica, lastAt: byReplica.size === 0 ? undefined : Math.max(...byReplica.values()) };
}
