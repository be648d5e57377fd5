/** Watches whether a move worked: the replacement of an evicted pod must land on the other side, or the side is in back-off. */

import type { EvictDecision } from '../decide/decision.ts';
import { actualSide } from '../decide/placement/assignment.ts';
import type { DisruptionLog } from '../guard/history.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import type { ClusterView } from '../model/cluster-view.ts';
import { isLive, podsOf } from '../model/owners.ts';
import type { WorkloadRecord } from '../model/records.ts';
import type { Sides } from '../model/sides.ts';

export interface MoveTracker {
  started(decision: EvictDecision, at: EpochMillis): void;
  /**
   * Looks for the replacement of the workload's last move and enters the result in the history.
   * @returns how long until looking again is worth it, where only time decides; undefined otherwise.
   */
  judge(view: ClusterView, sides: Sides, workload: WorkloadRecord, now: EpochMillis): Millis | undefined;
  forget(workloadUid: string): void;
}

interface Move {
  readonly decision: EvictDecision;
  readonly at: EpochMillis;
  /** It was unschedulable for too long and has been entered as failed; it may still land. */
  readonly isOverdue: boolean;
}

/** An autoscaler needs a minute or two for a new node; after that the side counts as having no place. */
const PATIENCE_MILLIS = 120_000;

export function createMoveTracker(history: DisruptionLog): MoveTracker {
  const moves = new Map<string, Move>();
  return {
    started(decision, at) {
      moves.set(decision.workloadUid, { decision, at, isOverdue: false });
    },
    judge(view, sides, workload, now) {
      const move = moves.get(workload.uid);
      if (move === undefined) return undefined;
      const { to } = move.decision;
      // Creation times have whole seconds.
      const since = Math.floor(move.at / 1000) * 1000;
      const newcomers = podsOf(view, workload).filter(
        (pod) => isLive(pod) && pod.createdAt >= since && pod.uid !== move.decision.pod.uid,
      );
      const bound = newcomers.filter((pod) => pod.nodeName !== undefined);
      if (bound.some((pod) => actualSide(view, sides, pod) === to)) {
        history.recordLandedMove(workload.uid, to);
        moves.delete(workload.uid);
        return undefined;
      }
      // It came back where it was: the webhook was down, or the other side had no room after all.
      if (bound.length > 0) {
        history.recordFailedMove(workload.uid, to, now);
        moves.delete(workload.uid);
        return undefined;
      }
      const unschedulable = newcomers.flatMap(({ unschedulableSince }) => unschedulableSince ?? []);
      if (unschedulable.length === 0 || move.isOverdue) return undefined;
      const remaining = Math.min(...unschedulable) + PATIENCE_MILLIS - now;
      if (remaining > 0) return remaining;
      history.recordFailedMove(workload.uid, to, now);
      moves.set(workload.uid, { ...move, isOverdue: true });
      return undefined;
    },
    forget(workloadUid) {
      moves.delete(workloadUid);
    },
  };
}
