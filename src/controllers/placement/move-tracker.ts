/**
 * Watches whether moves worked, so that a side without a place is left alone for a while instead of being tried again
 * and again.
 */
import type { EvictDecision } from '../../decide/decision.ts';
import { judgeMove, type Move, madeSince } from '../../decide/placement/moves.ts';
import type { DisruptionLog } from '../../guard/history.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { ClusterView } from '../../model/cluster-view.ts';
import { isLive, podsOf } from '../../model/owners.ts';
import type { PodRecord, WorkloadRecord } from '../../model/records.ts';
import type { Sides } from '../../model/sides.ts';

/** Of moves that a predecessor began those are known that still show. */
export interface MoveTracker {
  /**
   * To be called once of each workload, by who begins to lead. Pods that wait in vain for on-demand count as moves there
   * that failed, as often as one would have been tried by now. Whether spot can be had is told by its own memory.
   */
  adopt(view: ClusterView, workload: WorkloadRecord, now: EpochMillis): void;
  /**
   * One move a workload is watched: the latest, as at most one pod of it goes at a time.
   * @param known uids of the workload's pods as they were seen when it was decided.
   */
  started(decision: EvictDecision, at: EpochMillis, known?: ReadonlySet<string>): void;
  /**
   * Judges the workload's last move and enters the result in the history.
   * @returns how long until looking again is worth it, where only time decides; undefined otherwise.
   */
  judge(view: ClusterView, sides: Sides, workload: WorkloadRecord, now: EpochMillis): Millis | undefined;
  forget(workloadUid: string): void;
}

interface TrackedMove extends Move {
  readonly forgetAt: EpochMillis;
  /** Entered as failed; it may still land. */
  readonly hasFailed: boolean;
  /** Whether its replacement passed the webhook is told already. */
  readonly isAdmissionTold: boolean;
}

/**
 * An autoscaler needs a minute or two for a new node; after that the side counts as having no place. It may still land
 * later, which takes the failure back.
 */
const PATIENCE_MILLIS = 120_000;
/**
 * A replacement that is neither bound nor reported unschedulable by then (quota, a paused workload) is nobody's
 * failure.
 */
const FORGET_MILLIS = 3_600_000;
const LOOK_AGAIN_MILLIS = 15_000;

/** @param steersNewPods whether new pods are meant to pass this operator's webhook. */
export function createMoveTracker(history: DisruptionLog, steersNewPods: () => boolean): MoveTracker {
  const moves = new Map<string, TrackedMove>();
  /** @returns whether it is known. Known as soon as the replacement is there, wherever it will run. */
  const tellAdmission = (view: ClusterView, workload: WorkloadRecord, move: TrackedMove, now: EpochMillis): boolean => {
    const made = madeSince(view, workload, move);
    const steered = made.find(({ admissionId }) => admissionId !== undefined);
    if (steered !== undefined) history.steering.recordSteered(steered, workload.uid);
    else if (made[0] !== undefined && steersNewPods())
      history.steering.recordMissed(workload.uid, made[0], move.at, now);
    return made.length > 0;
  };
  return {
    adopt(view, workload, now) {
      const { uid: workloadUid } = workload;
      const to = 'on-demand';
      const pods = podsOf(view, workload);
      const waiting = pods.filter((pod) => pod.capacity === to && isStranded(pod, now));
      if (waiting.length === 0 || history.failedMove(workloadUid, to) !== undefined) return;
      let triedAt = Math.min(...waiting.map((pod) => pod.unschedulableSince ?? now));
      while (triedAt <= now) {
        history.recordFailedMove(workloadUid, to, triedAt);
        triedAt = history.failedMove(workloadUid, to)?.retryAt ?? Number.POSITIVE_INFINITY;
      }
      const at = Math.min(...waiting.map(({ createdAt }) => createdAt));
      const known = new Set(pods.flatMap((pod) => (waiting.includes(pod) ? [] : pod.uid)));
      const move = { workloadUid, podUid: '', to, at, known, forgetAt: now + FORGET_MILLIS } as const;
      moves.set(workloadUid, { ...move, hasFailed: true, isAdmissionTold: true });
    },
    started({ workloadUid, pod, to }, at, known) {
      const move = { workloadUid, podUid: pod.uid, to, at, known, forgetAt: at + FORGET_MILLIS };
      moves.set(workloadUid, { ...move, hasFailed: false, isAdmissionTold: false });
    },
    judge(view, sides, workload, now) {
      const move = moves.get(workload.uid);
      if (move === undefined) return undefined;
      const isAdmissionTold = move.isAdmissionTold || tellAdmission(view, workload, move, now);
      const outcome = judgeMove(view, sides, workload, move, { patienceMillis: PATIENCE_MILLIS, now });
      if (outcome === 'landed') history.recordLandedMove(workload.uid, move.to);
      else if (outcome === 'failed' && !move.hasFailed) history.recordFailedMove(workload.uid, move.to, now);
      if (outcome === 'landed' || move.forgetAt <= now) {
        moves.delete(workload.uid);
        return undefined;
      }
      moves.set(workload.uid, { ...move, hasFailed: move.hasFailed || outcome === 'failed', isAdmissionTold });
      return outcome === 'pending' ? LOOK_AGAIN_MILLIS : undefined;
    },
    forget(workloadUid) {
      moves.delete(workloadUid);
    },
  };
}

/** It has found no node for as long as a move is given to land. */
function isStranded(pod: PodRecord, now: EpochMillis): boolean {
  const { nodeName, unschedulableSince } = pod;
  return isLive(pod) && nodeName === undefined && (unschedulableSince ?? now) + PATIENCE_MILLIS <= now;
}
