/** Carries out fallbacks: asks the guards, recreates the pod, and tells what was done. */
import type { Events } from '../../act/events.ts';
import type { Evict } from '../../act/evict.ts';
import { mayBeGone } from '../../act/eviction-outcome.ts';
import type { EngineJournal } from '../../act/journal.ts';
import type { FallbackDecision } from '../../decide/decision.ts';
import { patienceFor } from '../../decide/placement/decide-fallback.ts';
import type { SpotOutlook } from '../../decide/placement/spot-outlook.ts';
import type { GuardContext } from '../../guard/context.ts';
import { inspect } from '../../guard/guard.ts';
import { inWords } from '../../guard/objection.ts';
import type { Logger } from '../../lib/log.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { renderReason } from '../../lib/reasons.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { workloadKey } from '../../model/cluster-view.ts';
import type { WorkloadRecord } from '../../model/records.ts';
import type { SpotWatch } from '../spot-watch.ts';
import type { BlockReporter } from './block-reporter.ts';
import { moveFields } from './log-fields.ts';
import { countFallback } from './metrics.ts';

export interface FallBackOptions {
  readonly spot: Pick<SpotOutlook, 'stateOf'>;
  readonly covers: Pick<SpotWatch, 'askCover' | 'withdrawCover'>;
  readonly evict: Evict;
  readonly blocks: Pick<BlockReporter, 'report'>;
  readonly events: Pick<Events, 'onWorkload'>;
  readonly journal: EngineJournal;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/**
 * Recreates one pod that found no room on spot, so that admission steers its replacement to on-demand (hazard H5).
 * @returns when to look again; undefined when the change of the pods will tell.
 */
export type FallBack = (
  workload: WorkloadRecord,
  decision: FallbackDecision,
  context: GuardContext,
  signal: AbortSignal,
) => Promise<Millis | undefined>;

/** The view may show a pod for a moment after it was recreated: asking again would be counted twice (hazard H27). */
const SEEN_GONE_MILLIS: Millis = 10_000;
/** Soon: the pod serves nobody, and its workload waits for it. */
const RETRY_MILLIS: Millis = 5_000;

export function createFallBack(options: FallBackOptions): FallBack {
  const { spot, covers, evict, blocks, events, journal, metrics, log } = options;
  /** Uids of pods that were asked to go, and when. */
  const asked = new Map<string, EpochMillis>();
  /** The last pod that was recreated in a place, by workload and slot, and when. */
  const recreated = new Map<string, { readonly podUid: string; readonly at: EpochMillis }>();

  return async (workload, decision, context, signal) => {
    const { pod, slot, waitingSince, why } = decision;
    const { now } = context;
    for (const [uid, at] of asked) if (at + SEEN_GONE_MILLIS <= now) asked.delete(uid);
    if (asked.has(pod.uid)) return RETRY_MILLIS;
    // The scheduler's clock says since when a pod waits. Where ours is ahead of it, the next one in the same place
    // would seem to have waited long enough the moment it is there, and so on without end.
    const patience = patienceFor(workload, context.settings);
    for (const [place, { at }] of recreated)
      if (at + context.settings.fallback.afterMillis <= now) recreated.delete(place);
    const place = `${workload.uid} ${slot}`;
    const last = recreated.get(place);
    if (last !== undefined && last.podUid !== pod.uid && last.at + patience > now) return last.at + patience - now;
    const verdict = inspect(decision, context);
    if (verdict.kind === 'blocked') {
      blocks.report(workload, decision, verdict.block);
      return verdict.block.retryAfterMillis;
    }
    // Before the request leaves: a second look must not ask for the same pod while the answer is on its way.
    asked.set(pod.uid, now);
    recreated.set(place, { podUid: pod.uid, at: now });
    covers.askCover(pod.uid, workload.uid);
    const outcome = await evict(verdict.approved, signal);
    if (!mayBeGone(outcome)) covers.withdrawCover(pod.uid);
    countFallback(metrics, outcome.result);
    log.info({ ...moveFields(decision, undefined), result: outcome.result }, 'A pod without room on spot is recreated');
    if (outcome.result === 'evicted') {
      const state = spot.stateOf(workload.uid, now);
      const message = renderReason('FallbackToOnDemand', {
        pod: pod.name,
        waited: inWords(now - waitingSince),
        retryAfter: inWords(state.kind === 'closed' ? state.until - now : 0),
      });
      // One event an outage and hour: the pods differ, the matter is the same.
      events.onWorkload(workload, { reason: 'FallbackToOnDemand', message, lasts: true });
      const entry = {
        kind: 'done',
        reason: 'FallbackToOnDemand',
        message,
        pod: pod.name,
        numbers: why.numbers,
      } as const;
      journal.record(workloadKey(workload), entry);
      return undefined;
    }
    asked.delete(pod.uid);
    if (outcome.result === 'gone' || outcome.result === 'changed') return undefined;
    const error = 'message' in outcome ? outcome.message : outcome.result;
    const message = renderReason('EvictionFailed', { pod: pod.name, error });
    journal.record(workloadKey(workload), { kind: 'failed', reason: 'EvictionFailed', message, pod: pod.name });
    if (outcome.result === 'throttled') return outcome.retryAfterMillis;
    events.onWorkload(workload, { reason: 'EvictionFailed', message, lasts: true });
    return RETRY_MILLIS;
  };
}
