/** One look at one workload: plan, ask the guards, act at most once, and say when to look again. */

import type { WorkloadEvents } from '../act/events.ts';
import { type EvictionOutcome, mayBeGone } from '../act/eviction-outcome.ts';
import type { EngineJournal } from '../act/journal.ts';
import type { Restamp } from '../act/restamp.ts';
import type { EvictDecision, RestampDecision } from '../decide/decision.ts';
import { planWorkload } from '../decide/placement/converge.ts';
import { noticeStranded } from '../decide/placement/notice-stranded.ts';
import type { WorkloadPlan } from '../decide/placement/plan.ts';
import type { Block } from '../guard/context.ts';
import { type Approved, inspect } from '../guard/guard.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import { describeReason, reason as reasonOf, renderReason } from '../lib/reasons.ts';
import type { Millis } from '../lib/units.ts';
import type { ClusterView } from '../model/cluster-view.ts';
import { workloadKey } from '../model/cluster-view.ts';
import type { WorkloadRecord } from '../model/records.ts';
import { createBlockReporter } from './block-reporter.ts';
import type { DisruptionTurns } from './disruption-turns.ts';
import type { Disruptions } from './disruptions.ts';
import { createFallBack } from './fall-back.ts';
import type { MoveTracker } from './move-tracker.ts';
import { countEviction } from './placement-metrics.ts';
import type { PlacementRules } from './placement-rules.ts';
import type { PlanGauges } from './plan-gauges.ts';
import { createRestampBatch } from './restamp-batch.ts';
import type { SpotWatch } from './spot-watch.ts';

export interface ReconcilerOptions {
  readonly view: ClusterView;
  readonly rules: () => PlacementRules;
  readonly disruptions: Disruptions;
  readonly turns: DisruptionTurns;
  readonly moves: MoveTracker;
  readonly spot: SpotWatch;
  readonly restamp: Restamp;
  readonly events: WorkloadEvents;
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

/** An eviction failed in a way that is worth a retry with back-off. The event and the metric were written already. */
export class EvictionError extends Error {
  override readonly name = 'EvictionError';
  readonly code = 'EVICTION_FAILED';
}

export function createPlacementReconciler(options: ReconcilerOptions): PlacementReconciler {
  const { view, rules, disruptions, turns, moves, spot, events, journal, metrics, gauges, clock } = options;
  const { history, evict } = disruptions;
  const log = options.log.child('placement');
  const blocks = createBlockReporter(options);
  const restamps = createRestampBatch(options);
  const fallBack = createFallBack({ ...options, evict, spot: spot.memory, covers: spot, blocks, log });
  /**
   * The API server asked everybody to wait until then (429 with Retry-After and no PDB as its cause). Only evictions
   * wait: they are many and can.
   */
  let throttledUntil = 0;

  const blocked = (workload: WorkloadRecord, decision: EvictDecision, block: Block): Millis | undefined => {
    blocks.report(workload, decision, block);
    return block.retryAfterMillis;
  };

  /**
   * Asks the guards, then for a turn, then evicts. Turns come after guards: a candidate that a guard blocks would hold
   * the place of the others for as long as it is blocked.
   * @returns when to look again.
   */
  const move = async (workload: WorkloadRecord, plan: WorkloadPlan, decision: EvictDecision, signal: AbortSignal) => {
    const key = workloadKey(workload);
    const context = disruptions.contextWith(plan.policy, workload.namespace);
    const verdict = inspect(decision, context);
    const { drift, replicas } = plan;
    const candidate = { engine: 'placement', key, workloadUid: workload.uid, drift, replicas } as const;
    if (verdict.kind === 'blocked') {
      turns.noteBlocked(candidate, verdict.block);
      return blocked(workload, decision, verdict.block);
    }
    if (throttledUntil > context.now) {
      const throttled = throttledBlock(throttledUntil - context.now);
      turns.noteBlocked(candidate, throttled);
      return blocked(workload, decision, throttled);
    }
    const others = turns.take(candidate);
    if (others !== undefined) return blocked(workload, decision, others);
    return carryOut(workload, verdict.approved, signal);
  };

  /**
   * The only place where placement evicts a pod that serves.
   * @returns when to look again.
   */
  const carryOut = async (workload: WorkloadRecord, approved: Approved<EvictDecision>, signal: AbortSignal) => {
    const { decision } = approved;
    const { pod, from, why } = decision;
    const { settings } = rules();
    const startedAt = clock.now();
    // Its replacement must find spot open, if only for this one pod.
    if (decision.to === 'spot') spot.memory.startProbe(workload.uid, startedAt);
    const outcome = await disruptions.disrupt(approved, signal);
    countEviction(metrics, workload, outcome.result);
    log.info(
      {
        namespace: workload.namespace,
        name: workload.name,
        kind: workload.kind,
        pod: pod.name,
        from,
        result: outcome.result,
      },
      'Eviction asked for',
    );
    const isDisrupted = mayBeGone(outcome);
    // One workload whose evictions are refused must not keep all others from trying spot.
    if (!isDisrupted) spot.memory.cancelProbe(workload.uid);
    if (isDisrupted) {
      moves.started(decision, startedAt);
      if (decision.isReturn === true) history.recordReturn(workload.uid, startedAt);
    }
    if (outcome.result === 'evicted') {
      const reason = decision.isReturn === true ? 'ReturnedToSpot' : 'EvictedForRebalance';
      const message = renderReason(reason, { pod: pod.name, from, reason: why.summary });
      if (reason === 'ReturnedToSpot') metrics.inc('spotalis_returns_total', {});
      events.record(workload, reason, message);
      journal.record(workloadKey(workload), { kind: 'done', reason, message, pod: pod.name, numbers: why.numbers });
    }
    return isDisrupted ? settings.cooldownMillis : refused(workload, decision, outcome, settings.disruptionRetryMillis);
  };

  /** The API server did not evict. @returns when to try again. */
  const refused = (
    workload: WorkloadRecord,
    decision: EvictDecision,
    outcome: EvictionOutcome,
    retryMillis: Millis,
  ): Millis | undefined => {
    const pod = decision.pod.name;
    const block = (name: Block['reason'], message: string, retryAfterMillis = retryMillis): Millis | undefined => {
      const { advice } = describeReason(name);
      return blocked(workload, decision, { rule: 'api', reason: name, message, advice, retryAfterMillis });
    };
    switch (outcome.result) {
      case 'blocked-by-pdb':
        return block('BlockedByPdb', outcome.message);
      case 'multiple-pdbs':
        return block('MultiplePdbs', outcome.message);
      case 'changed':
        return block('PreconditionFailed', renderReason('PreconditionFailed', { pod }));
      case 'throttled': {
        throttledUntil = Math.max(throttledUntil, clock.now() + outcome.retryAfterMillis);
        return blocked(workload, decision, throttledBlock(outcome.retryAfterMillis));
      }
      case 'forbidden':
      case 'failed': {
        const message = renderReason('EvictionFailed', { pod, error: outcome.message });
        events.recordHourly(workload, 'EvictionFailed', message);
        journal.record(workloadKey(workload), { kind: 'failed', reason: 'EvictionFailed', message, pod });
        throw new EvictionError(message);
      }
      default:
        return undefined;
    }
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
      const times: (Millis | undefined)[] = [moves.judge(view, sides, workload, now)];
      const opensOrCloses = policy.window?.nextChange(now);
      if (opensOrCloses !== undefined) times.push(opensOrCloses - now);

      const eviction = plan.decisions.find((decision) => decision.kind === 'evict');
      if (eviction === undefined) turns.leave('placement', workloadKey(workload));
      else times.push(await move(workload, plan, eviction, signal));
      const fallback = plan.decisions.find((decision) => decision.kind === 'fallback');
      if (fallback !== undefined)
        times.push(
          await fallBack(workload, fallback, disruptions.contextWith(plan.policy, workload.namespace), signal),
        );
      if (plan.fallbackDueAt !== undefined) times.push(plan.fallbackDueAt - now);
      const corrections = plan.decisions.filter((decision): decision is RestampDecision => decision.kind === 'restamp');
      if (corrections.length > 0)
        times.push(
          await restamps.apply(workload, corrections, disruptions.contextWith(plan.policy, workload.namespace), signal),
        );
      // All of them may fall due: the earliest look finds out which others are left.
      return { plan, againAfterMillis: earliest(times) };
    },
    forget(key, workloadUid) {
      history.forgetWorkload(workloadUid, clock.now());
      moves.forget(workloadUid);
      turns.leave('placement', key);
      events.forget(workloadUid);
      journal.forget(key);
    },
  };
}

function throttledBlock(retryAfterMillis: Millis): Block {
  const { name, ...texts } = reasonOf('ThrottledByApi', { retryAfter: `${Math.ceil(retryAfterMillis / 1000)}s` });
  return { rule: 'api', reason: name, ...texts, retryAfterMillis };
}

function earliest(times: readonly (Millis | undefined)[]): Millis | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
