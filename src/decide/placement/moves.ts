/**
 * What became of a move: whether the replacement of an evicted pod landed where it was meant to. Nothing ties a
 * replacement to the pod it replaces, so the pods made since are taken together.
 */
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { ClusterView } from '../../model/cluster-view.ts';
import { isLive, podsOf } from '../../model/owners.ts';
import type { PodRecord, Side, WorkloadRecord } from '../../model/records.ts';
import type { Sides } from '../../model/sides.ts';

/** A move under way. */
export interface Move {
  readonly workloadUid: string;
  /** The evicted pod. */
  readonly podUid: string;
  readonly to: Side;
  /** When the eviction was granted. */
  readonly at: EpochMillis;
  /** Uids of the pods that were seen when it was decided; left out, only times tell which were made since. */
  readonly known?: ReadonlySet<string> | undefined;
}

/**
 * `landed`: a pod made since runs on the side meant. `failed`: it runs on the other side (the webhook did not
 * steer it) or was sent there (its admission saw an old picture), or has found no node for `patienceMillis`. `pending`:
 * neither yet.
 */
export type MoveOutcome = 'pending' | 'landed' | 'failed';

/** Creation times are whole seconds, so a replacement may seem to be made up to a second before the eviction. */
const CLOCK_GRAIN_MILLIS: Millis = 1000;
/** Pods are dated by the API server, the move by a clock that may be ahead of it. */
const MOST_AHEAD_MILLIS: Millis = 300_000;

/** The pods of the workload made since the move began. */
export function madeSince(
  view: ClusterView,
  workload: WorkloadRecord,
  { podUid, at, known }: Move,
): readonly PodRecord[] {
  const earliest = at - (known === undefined ? CLOCK_GRAIN_MILLIS : MOST_AHEAD_MILLIS);
  return podsOf(view, workload).filter(
    (pod) => isLive(pod) && pod.uid !== podUid && known?.has(pod.uid) !== true && pod.createdAt > earliest,
  );
}

/**
 * Judges a move by the pods of the workload created since.
 * @param patienceMillis how long a replacement may stay unschedulable before the move counts as failed.
 */
export function judgeMove(
  view: ClusterView,
  sides: Sides,
  workload: WorkloadRecord,
  move: Move,
  options: { readonly patienceMillis: Millis; readonly now: EpochMillis },
): MoveOutcome {
  let isElsewhere = false;
  let isStranded = false;
  let isOnItsWay = false;
  for (const pod of madeSince(view, workload, move)) {
    const node = pod.nodeName === undefined ? undefined : view.node(pod.nodeName);
    if (node !== undefined) {
      const nodeClass = sides.classOf(node);
      if (nodeClass === move.to) return 'landed';
      isElsewhere ||= nodeClass !== 'unknown';
    } else if (pod.unschedulableSince !== undefined && pod.unschedulableSince + options.patienceMillis <= options.now) {
      isStranded = true;
    } else if (pod.nodeName === undefined && pod.capacity !== undefined) {
      // Where it waits is where it was sent: with watches that lag, each move would be followed by the next.
      if (pod.capacity === move.to) isOnItsWay = true;
      else isElsewhere = true;
    }
  }
  return isStranded || (isElsewhere && !isOnItsWay) ? 'failed' : 'pending';
}
