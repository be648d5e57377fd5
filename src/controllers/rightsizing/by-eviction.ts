/**
 * Applies sizes by new pods without a new template: the sizes in force are written on the workload, where admission
 * reads them, and pods that have others are evicted one at a time.
 */
import { dueChanges } from '../../decide/rightsizing/due-changes.ts';
import type { DriftedPod } from '../../decide/rightsizing/pod-drift.ts';
import { helpInRollout } from '../../decide/rightsizing/rollout-help.ts';
import { joinChanges } from '../../decide/rightsizing/side-by-side.ts';
import { isDecrease, watchChange } from '../../decide/rightsizing/watched-change.ts';
import { renderReason } from '../../lib/reasons.ts';
import type { Millis } from '../../lib/units.ts';
import { applyChanges, type SizeChange } from '../../model/pod-size.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import type { ApplyContext, ApplySizes } from './apply.ts';
import { LOOK_AGAIN_MILLIS, resultOfWaiting } from './apply-result.ts';
import { type Changes, writeInForce } from './change.ts';
import type { RightsizingParts } from './parts.ts';
import { evictedMessage, type PodReplacement } from './pod-replacement.ts';
import { isOthers, podsToReplace, thatMayGo } from './pods-to-replace.ts';
import type { RestartGate } from './restart-gate.ts';
import { type ApplyResult, pending } from './result.ts';
import { starvedStarts } from './starved-starts.ts';
import type { OngoingChange } from './watches.ts';

export interface ByEvictionOptions extends Pick<RightsizingParts, 'settings' | 'isAllocated' | 'clock'> {
  readonly replacement: PodReplacement;
  readonly changes: Changes;
  readonly restartGate: RestartGate;
}

/**
 * Admission reads the sizes from a cache of its own: a pod that is evicted before it shows them is made anew as it was.
 */
const WRITTEN_MILLIS: Millis = 1_000;

/** One look: what did harm is taken back first; at most one pod is evicted. */
export function createByEviction(options: ByEvictionOptions): ApplySizes {
  const { changes, settings, isAllocated, replacement, restartGate, clock } = options;
  const { evictOne, tryOne, judgeLast } = replacement;

  /**
   * Writes the new sizes for the pods to come. Nobody is evicted before the view shows them.
   * @returns what keeps it from that.
   */
  const begin = async (context: ApplyContext, due: readonly SizeChange[]): Promise<ApplyResult | undefined> => {
    const { advised, live, memory } = context;
    const { workload, inForce, lessons } = advised;
    const after = applyChanges(inForceNow(context).inForce, due);
    // Nothing is written before the guards agree to what follows from it.
    const trial = await tryOne(context, thatMayGo(context, podsToReplace(context, after, isAllocated, due)));
    const kept = trial && memory.attempts.note(workload, trial.attempt);
    if (kept !== undefined) return kept;
    const watched = watchChange(due, inForce, advised.pods, clock.now());
    const phase = isDecrease(watched) && live.length > 1 ? 'canary' : 'spread';
    const goBack = memory.watches.checkpoint();
    const change = memory.watches.begin({ ...watched, method: 'Evict', phase, canary: undefined });
    const failed = await writeInForce(context, { inForce: after, lessons }, clock.now());
    if (failed !== undefined) goBack(failed.isForbidden !== true);
    else changes.noteMade(context, change, 'Recreate', 'Eviction');
    return failed;
  };

  /** Judged by the pods that have the new sizes; pods to come get the old ones from now on. */
  const takeBack = async (context: ApplyContext): Promise<ApplyResult | undefined> => {
    const { inForce, changed } = inForceNow(context);
    const differ = new Set(podsToReplace(context, inForce, isAllocated, changed).map(({ pod }) => pod));
    const sized = context.live.filter((pod) => !differ.has(pod));
    const harms = [...(await changes.judge(context, () => sized)), ...starvedStarts(context)];
    return harms.length === 0 ? undefined : (await changes.takeBack(context, harms, inForce)).result;
  };

  /**
   * After a decrease the first new pod is watched for a while before the others go.
   * @returns what the workload waits for; undefined where the others may go, or where there is no new pod yet.
   */
  const watchFirst = (
    { advised, live, memory }: ApplyContext,
    ongoing: OngoingChange,
    drifted: readonly DriftedPod[],
  ) => {
    const sized = live.filter((pod) => drifted.every((each) => each.pod !== pod));
    const now = advised.at;
    /** A pod that still starts has shown nothing, where all were ready before. The clock of its node may be ahead. */
    const leftOf = ({ pod: { createdAt, ready, readyChangedAt = 0 } }: SizedPod): Millis => {
      const readyAt = readyChangedAt <= now ? readyChangedAt : 0;
      const since = ready || ongoing.unready.size > 0 ? Math.max(createdAt, ongoing.startedAt, readyAt) : now;
      return since + settings().canaryMillis - now;
    };
    const [first] = sized.toSorted((a, b) => leftOf(a) - leftOf(b) || a.pod.createdAt - b.pod.createdAt);
    if (first === undefined) return undefined;
    const remaining = leftOf(first);
    // Whether less is enough for the others is not known either while nothing is read.
    if (remaining <= 0 && advised.unread === undefined) {
      memory.watches.spread(ongoing);
      return undefined;
    }
    const message = renderReason('CanaryWatched', { pod: first.pod.name });
    const again = remaining <= 0 ? LOOK_AGAIN_MILLIS : Math.min(remaining, LOOK_AGAIN_MILLIS);
    return pending('CanaryWatched', message, again);
  };

  return async (context) => {
    const { advised, memory } = context;
    const { workload } = advised;
    memory.watches.dropUnspread();
    const harmed = await takeBack(context);
    if (harmed !== undefined) return harmed;
    // During a rollout pods go and come by themselves; but it may be stuck because they have too little.
    const advice = dueChanges(advised.advice);
    const due = workload.isRollingOut
      ? helpInRollout(advice, advised.inForce, context.live, clock.now()).raises
      : advice;
    const { beginning, held } = restartGate.newPods(context, due);
    if (beginning.length > 0) {
      const kept = await begin(context, beginning);
      return kept ?? pending('EvictedToResize', 'the new size is written for the pods to come', WRITTEN_MILLIS);
    }
    const { inForce, changed } = inForceNow(context);
    const drifted = podsToReplace(context, inForce, isAllocated, changed);
    const ours = drifted.filter((each) => !isOthers(each));
    // Before the next one goes: where replacements come without their size, every eviction is in vain.
    judgeLast(context, ours);
    memory.watches.review(() => ours.length === 0, advised.at, settings().revertMillis);
    if (ours.length === 0) memory.watches.forgetHarm();
    const going = thatMayGo(context, drifted);
    if (going.length === 0) return resultOfWaiting(advised, memory, { isDue: due.length > 0, held });
    // What admission reads is what the view shows.
    if (!memory.annotations.areShown)
      return pending('EvictedToResize', 'the new size is being written', WRITTEN_MILLIS);
    const first = memory.watches.ongoing.find(({ phase }) => phase === 'canary');
    const watching = first && watchFirst(context, first, drifted);
    if (watching !== undefined) return watching;
    const tried = await evictOne(context, going);
    if (tried === undefined) return { status: 'Applied' };
    const kept = memory.attempts.note(workload, tried.attempt);
    if (kept !== undefined) return { ...kept, againAfterMillis: kept.againAfterMillis ?? settings().deferredMillis };
    const message = evictedMessage(tried.decision);
    return pending('EvictedToResize', message, LOOK_AGAIN_MILLIS);
  };
}

/** The sizes that new pods are given: as written on the workload, and what has just been written. */
function inForceNow({ advised, memory }: ApplyContext) {
  const changed = joinChanges(memory.watches.ongoing.flatMap((each) => each.changes));
  return { inForce: applyChanges(advised.inForce, changed), changed };
}
