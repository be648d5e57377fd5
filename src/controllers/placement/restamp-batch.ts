/** Corrects the stamps of a workload's pods, a limited number at a time. */
import type { Events } from '../../act/events.ts';
import type { EngineJournal } from '../../act/journal.ts';
import type { Restamp } from '../../act/restamp.ts';
import type { RestampDecision } from '../../decide/decision.ts';
import type { GuardContext } from '../../guard/context.ts';
import { inspect } from '../../guard/guard.ts';
import type { Logger } from '../../lib/log.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { renderReason } from '../../lib/reasons.ts';
import type { Millis } from '../../lib/units.ts';
import { workloadKey } from '../../model/cluster-view.ts';
import type { WorkloadRecord } from '../../model/records.ts';

/**
 * Stamps go wrong with a change of percentage or floor: the sides still fit, the slots do not. Only annotations are
 * written; nobody is evicted for that (placement spec, section 5).
 */
export interface RestampBatch {
  /** @returns when to look again; undefined when the changes of the pods themselves will tell. */
  apply(
    workload: WorkloadRecord,
    decisions: readonly RestampDecision[],
    context: GuardContext,
    signal: AbortSignal,
  ): Promise<Millis | undefined>;
}

export interface RestampBatchOptions {
  readonly restamp: Restamp;
  readonly events: Pick<Events, 'onWorkload'>;
  readonly journal: EngineJournal;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** Patches of one workload in a row; the API server has other clients. */
const MAX_AT_ONCE = 20;
const NEXT_BATCH_MILLIS = 1_000;
/** Stamps are bookkeeping: nobody waits for them. */
const RETRY_MILLIS = 30_000;

export function createRestampBatch({ restamp, events, journal, metrics, log }: RestampBatchOptions): RestampBatch {
  return {
    async apply(workload, decisions, context, signal) {
      const key = workloadKey(workload);
      let count = 0;
      let hasFailed = false;
      for (const decision of decisions.slice(0, MAX_AT_ONCE)) {
        const verdict = inspect(decision, context);
        if (verdict.kind === 'blocked') {
          const { reason, message, retryAfterMillis } = verdict.block;
          journal.record(key, { kind: 'blocked', reason, message });
          return retryAfterMillis;
        }
        const outcome = await restamp(verdict.approved, signal);
        if (outcome.result === 'restamped') count++;
        if (outcome.result === 'failed') {
          hasFailed = true;
          log.warn({ workload: key, pod: decision.pod.name, error: outcome.message }, 'A pod could not be restamped');
        }
        if (outcome.result !== 'changed') {
          metrics.inc('spotalis_restamps_total', { result: outcome.result === 'failed' ? 'error' : 'success' });
        }
      }
      if (count > 0) {
        const message = renderReason('Restamped', { count });
        events.onWorkload(workload, { reason: 'Restamped', message });
        journal.record(key, { kind: 'done', reason: 'Restamped', message });
      }
      if (hasFailed) return RETRY_MILLIS;
      return decisions.length > MAX_AT_ONCE ? NEXT_BATCH_MILLIS : undefined;
    },
  };
}
