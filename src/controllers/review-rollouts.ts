/** Which of the rollouts that Stowage began are over: their places in the cluster-wide budget come free. */
import type { EpochMillis } from '../lib/units.ts';
import type { SizingView } from '../model/sizing-view.ts';
import type { Disruptions } from './disruptions.ts';
import { UNSEEN_MILLIS } from './rightsizing-memory.ts';

/**
 * To be called every second or so. A rollout that was never seen to begin is believed to be over after {@link
 * UNSEEN_MILLIS}; the cooldown of a workload begins anew when its rollout is over. One that goes on, as its new pods
 * show, keeps its place however long it takes.
 */
export function reviewRollouts(
  { list, history, inFlight, endRollout }: Pick<Disruptions, 'list' | 'history' | 'inFlight' | 'endRollout'>,
  view: Pick<SizingView, 'workloadByUid' | 'podsOf'>,
  now: EpochMillis,
): void {
  for (const rollout of list()) {
    const { workloadUid, since, isRollout, wentOnAt = since } = rollout;
    if (isRollout !== true) continue;
    const workload = view.workloadByUid(workloadUid);
    if (workload?.isRollingOut === true) {
      const newest = Math.max(...view.podsOf(workload).map(({ pod }) => pod.createdAt));
      if (newest > wentOnAt) inFlight.add({ ...rollout, wentOnAt: newest });
    }
    // A watch may be behind: that nothing is rolled out yet is believed after a while only.
    if (workload !== undefined && (workload.isRollingOut || now - since < UNSEEN_MILLIS)) continue;
    if (workload !== undefined) history.recordDisruption(workloadUid, now);
    endRollout(workloadUid);
  }
}
