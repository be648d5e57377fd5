/** Which of the rollouts that Stowage began are over: their places in the cluster-wide budget come free. */
import type { EpochMillis } from '../lib/units.ts';
import type { SizingView } from '../model/sizing-view.ts';
import type { Disruptions } from './disruptions.ts';
import { UNSEEN_MILLIS } from './rightsizing-memory.ts';

/**
 * To be called every second or so. A rollout that was never seen to begin is believed to be over after {@link
 * UNSEEN_MILLIS}; the cooldown of a workload begins anew when its rollout is over.
 */
export function reviewRollouts(
  { list, history, endRollout }: Pick<Disruptions, 'list' | 'history' | 'endRollout'>,
  view: Pick<SizingView, 'workloadByUid'>,
  now: EpochMillis,
): void {
  for (const { workloadUid, since, isRollout } of list()) {
    if (isRollout !== true) continue;
    const workload = view.workloadByUid(workloadUid);
    // A watch may be behind: that nothing is rolled out yet is believed after a while only.
    if (workload !== undefined && (workload.isRollingOut || now - since < UNSEEN_MILLIS)) continue;
    if (workload !== undefined) history.recordDisruption(workloadUid, now);
    endRollout(workloadUid);
  }
}
