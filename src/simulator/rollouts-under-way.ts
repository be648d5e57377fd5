/** Rollouts of new sizes, as the watch of their workloads tells them. */
import type { Deployment, StatefulSet } from '../api/core.ts';
import type { Clock } from '../lib/clock.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';

export interface RolloutsUnderWay {
  begin(key: string): void;
  /** What the workload shows now. */
  see(key: string, workload: Deployment | StatefulSet): void;
  /** The workload is gone. */
  end(key: string): void;
  /** It holds a place. */
  has(key: string): boolean;
  /** Those that hold a place: one that did not go on for long has given it back for good. */
  count(): number;
}

interface Rollout {
  /** Pods of the new template, at most so far. */
  readonly updated: number;
  readonly wentOnAt: EpochMillis;
}

/** @param stuckAfter `placement.stuckRolloutAfter`: how long a rollout that does not go on keeps its place. */
export function createRolloutsUnderWay(clock: Clock, stuckAfter: Millis): RolloutsUnderWay {
  const rollouts = new Map<string, Rollout>();
  const dropStuck = (): void => {
    for (const [key, { wentOnAt }] of rollouts) if (clock.now() - wentOnAt >= stuckAfter) rollouts.delete(key);
  };
  return {
    begin: (key) => void rollouts.set(key, { updated: 0, wentOnAt: clock.now() }),
    see(key, workload) {
      dropStuck();
      const known = rollouts.get(key);
      if (known === undefined) return;
      const { observedGeneration = 0, updatedReplicas = 0, replicas = 0 } = workload.status ?? {};
      // Until then the status is of the template before.
      if (observedGeneration < (workload.metadata?.generation ?? 0)) return;
      const wanted = workload.spec?.replicas ?? 1;
      if (updatedReplicas >= wanted && replicas <= wanted) rollouts.delete(key);
      else if (updatedReplicas > known.updated) rollouts.set(key, { updated: updatedReplicas, wentOnAt: clock.now() });
    },
    end: (key) => void rollouts.delete(key),
    has(key) {
      dropStuck();
      return rollouts.has(key);
    },
    count() {
      dropStuck();
      return rollouts.size;
    },
  };
}
