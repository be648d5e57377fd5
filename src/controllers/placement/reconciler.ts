/** One look at one workload: plan, carry out the one next step as far as the guards let it, and say when to look again. */
import type { Events } from '../../act/events.ts';
import type { EngineJournal } from '../../act/journal.ts';
import type { Restamp } from '../../act/restamp.ts';
import type { RestampDecision } from '../../decide/decision.ts';
import { planWorkload } from '../../decide/placement/converge.ts';
import { noticeStranded } from '../../decide/placement/notice-stranded.ts';
import type { WorkloadPlan } from '../../decide/placement/plan.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import type { Metrics } from '../../lib/metrics.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { ClusterView } from '../../model/cluster-view.ts';
import { workloadKey } from '../../model/cluster-view.ts';
import type { WorkloadRecord } from '../../model/records.ts';
import type { Disruptions } from '../disruptions.ts';
import type { SpotWatch } from '../spot-watch.ts';
import { createBlockReporter } from './block-reporter.ts';
import { createFallBack } from './fall-back.ts';
import { createMovePod } from './move-pod.ts';
import type { MoveTracker } from './move-tracker.ts';
import type { PlanGauges } from './plan-gauges.ts';
import { createRestampBatch } from './restamp-batch.ts';
import type { PlacementRules } from './rules.ts';

export interface ReconcilerOptions {
  readonly view: ClusterView;
  readonly rules: () => PlacementRules;
  readonly disruptions: Disruptions;
  readonly moves: MoveTracker;
  readonly spot: SpotWatch;
  readonly restamp: Restamp;
  readonly events: Pick<Events, 'onWorkload' | 'forget'>;
  readonly journal: EngineJournal;
  readonly metrics: Metrics;
  readonly gauges: PlanGauges;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What is left to do about a workload after one look. */
export interface ReconcileResult {
  readonly plan: WorkloadPlan;
  /** Look again after this time at the latest, where only time changes something; undefined otherwise. */
  readonly againAfterMillis: Millis | undefined;
}

/** Never called twice at a time for one workload. */
export interface PlacementReconciler {
  /** @throws EvictionError when an eviction failed for a reason that is not an expected answer. */
  reconcile(workload: WorkloadRecord, signal: AbortSignal): Promise<ReconcileResult>;
  /**
   * The workload is gone. Disruptions of one that is made anew under the same name are not its own: its uid differs.
   */
  forget(key: string, workloadUid: string): void;
}

export function createPlacementReconciler(options: ReconcilerOptions): PlacementReconciler {
  const { view, rules, disruptions, moves, spot, events, journal, gauges, clock } = options;
  const log = options.log.child('placement');
  const blocks = createBlockReporter(options);
  const movePod = createMovePod({ ...options, spot: spot.memory, blocks, log });
  const { evict, turns } = disruptions;
  const fallBack = createFallBack({ ...options, evict, spot: spot.memory, covers: spot, blocks, log });
  const restamps = createRestampBatch(options);

  /** A plan wants one thing at most: a move, a fallback, or stamps corrected. @returns when to look again. */
  const carryOut = async (
    workload: WorkloadRecord,
    plan: WorkloadPlan,
    signal: AbortSignal,
  ): Promise<Millis | undefined> => {
    const [first] = plan.decisions;
    if (first?.kind === 'evict') return await movePod(workload, plan, first, signal);
    turns.leave('placement', workloadKey(workload));
    if (first === undefined) return undefined;
    const context = disruptions.contextWith(plan.policy, workload);
    if (first.kind === 'fallback') return await fallBack(workload, first, context, signal);
    const corrections = plan.decisions.filter((decision): decision is RestampDecision => decision.kind === 'restamp');
    return await restamps.apply(workload, corrections, context, signal);
  };

  return {
    async reconcile(workload, signal) {
      const { settings, sides, readPolicy } = rules();
      const now = clock.now();
      const policy = readPolicy(view, workload);
      // Before the plan, which reads what this finds out about spot.
      if (policy.state === 'managed') noticeStranded(spot.memory, { view, sides, settings, workload, now });
      const plan = planWorkload({ view, sides, workload, settings, policy, spot: spot.memory, now });
      if (policy.state !== 'managed') {
        turns.leave('placement', workloadKey(workload));
        if (policy.state === 'unmanaged') return { plan, againAfterMillis: undefined };
        gauges.report(plan, now);
        blocks.reportInvalid(workload, policy.reason.message);
        return { plan, againAfterMillis: settings.disruptionRetryMillis };
      }
      gauges.report(plan, now);
      blocks.reportNotes(workload, plan);
      const until = (at: EpochMillis | undefined): Millis | undefined => (at === undefined ? undefined : at - now);
      const times = [
        moves.judge(view, sides, workload, now),
        until(policy.window?.nextChange(now)),
        await carryOut(workload, plan, signal),
        until(plan.fallbackDueAt),
      ];
      // All of them may fall due: the earliest look finds out which others are left.
      return { plan, againAfterMillis: earliest(times) };
    },
    forget(key, workloadUid) {
      disruptions.history.forgetWorkload(workloadUid, clock.now());
      moves.forget(workloadUid);
      turns.leave('placement', key);
      events.forget(workloadUid);
      journal.forget(key);
    },
  };
}

function earliest(times: readonly (Millis | undefined)[]): Millis | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
