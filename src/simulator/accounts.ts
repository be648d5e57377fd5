/** Sums over time: what ran where, what was asked for, what was short. Integrated at every change, so nothing is sampled. */
import type { Clock } from '../lib/clock.ts';
import type { Millis } from '../lib/units.ts';
import type { WorkloadFacts } from './fleet-watch.ts';

/** Replica-milliseconds and workload-milliseconds. */
export interface Sums {
  readonly replicas: number;
  /** Of managed workloads. */
  readonly managedReplicas: number;
  readonly spot: number;
  /** What policy and capacity allowed to run on spot. */
  readonly spotPossible: number;
  /** Replicas that were not ready. */
  readonly waiting: number;
  /** Workloads without any ready pod though they had replicas. */
  readonly down: number;
  /** Workloads with fewer ready on-demand pods than the floor, once they had that many. */
  readonly floorShort: number;
}

export interface Accounts {
  /** Adds up what was so far; call it before anything about the workload changes. */
  settle(facts: WorkloadFacts): void;
  /** From now on spot machines can be had, or not. Call it after settling every workload. */
  setSpotAvailable(isAvailable: boolean): void;
  sums(): Sums;
  /** What the sums would be with these workloads settled now; nothing is. */
  sumsWith(workloads: Iterable<WorkloadFacts>): Sums;
}

type MutableSums = { -readonly [Key in keyof Sums]: number };

export function createAccounts(clock: Clock): Accounts {
  const sums: MutableSums = {
    replicas: 0,
    managedReplicas: 0,
    spot: 0,
    spotPossible: 0,
    waiting: 0,
    down: 0,
    floorShort: 0,
  };
  const settledAt = new Map<string, Millis>();
  /** Workloads that had their floor once: before, they are only starting. */
  const complete = new Set<string>();
  let isSpotAvailable = true;

  /** Adds what was since the workload was settled last. */
  const add = (to: MutableSums, { uid, replicas, rule, counts, targetSpot, floor }: WorkloadFacts): void => {
    const now = clock.now();
    const span = now - (settledAt.get(uid) ?? now);
    if (span === 0) return;
    to.replicas += replicas * span;
    to.waiting += Math.max(0, replicas - counts.ready) * span;
    if (replicas > 0 && counts.ready === 0) to.down += span;
    if (rule === undefined) return;
    to.managedReplicas += replicas * span;
    // A surge of a rollout may run more pods on spot than there are replicas for it; that is no share beyond the target.
    to.spot += Math.min(counts.spot, targetSpot) * span;
    to.spotPossible += (isSpotAvailable ? targetSpot : Math.min(counts.spot, targetSpot)) * span;
    if (complete.has(uid) && counts.readyOnDemand < floor) to.floorShort += span;
  };

  return {
    settle(facts) {
      const { uid, rule, counts, floor } = facts;
      if (rule !== undefined && counts.readyOnDemand >= floor) complete.add(uid);
      add(sums, facts);
      settledAt.set(uid, clock.now());
    },
    setSpotAvailable(isAvailable) {
      isSpotAvailable = isAvailable;
    },
    sums: () => ({ ...sums }),
    sumsWith(workloads) {
      const copy = { ...sums };
      for (const facts of workloads) add(copy, facts);
      return copy;
    },
  };
}
