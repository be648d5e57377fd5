/** Which of the rollouts that Stowage began are over: their places in the cluster-wide budget come free. */
import type { EpochMillis } from '../../lib/units.ts';
import { isLive } from '../../model/owners.ts';
import type { SizingView } from '../../model/sizing-view.ts';
import type { Disruptions } from '../disruptions.ts';
import { UNSEEN_MILLIS } from './written-annotations.ts';

/**
 * To be called every second or so. A rollout that was never seen to begin is believed to be over after {@link
 * UNSEEN_MILLIS}; the cooldown of a workload begins anew when its rollout is over. One that goes on keeps its place: more
 * of its new pods are ready than ever before. So it ends at the latest when each of them was waited for as long as one
 * is; pods that are only made anew, again and again, keep nothing.
 */
export function reviewRollouts(
  { list, history, inFlight, endRollout }: Pick<Disruptions, 'list' | 'history' | 'inFlight' | 'endRollout'>,
  view: Pick<SizingView, 'workloadByUid' | 'podsOf'>,
  now: EpochMillis,
): void {
  for (const rollout of list()) {
    if (rollout.isRollout !== true) continue;
    const { workloadUid, since, readyPods = 0 } = rollout;
    const workload = view.workloadByUid(workloadUid);
    if (workload?.isRollingOut === true) {
      // Pods are dated by the second.
      const begun = Math.floor(since / 1000) * 1000;
      const ready = view
        .podsOf(workload)
        .filter(({ pod }) => pod.ready && isLive(pod) && pod.createdAt >= begun).length;
      if (ready > readyPods) inFlight.add({ ...rollout, wentOnAt: now, readyPods: ready });
    }
    // A watch may be behind: that nothing is rolled out yet is believed after a while only.
    if (workload !== undefined && (workload.isRollingOut || now - since < UNSEEN_MILLIS)) continue;
    if (workload !== undefined) history.recordDisruption(workloadUid, now);
    endRollout(workloadUid);
  }
}
