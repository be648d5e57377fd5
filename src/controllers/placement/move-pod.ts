/** Carries out moves: asks the guards, then for a turn, evicts the pod, and tells what came of it. */
import type { Events } from '../../act/events.ts';
import { type EvictionOutcome, mayBeGone } from '../../act/eviction-outcome.ts';
import type { EngineJournal } from '../../act/journal.ts';
import type { EvictDecision } from '../../decide/decision.ts';
import type { PodPlan, WorkloadPlan } from '../../decide/placement/plan.ts';
import type { SpotMemory } from '../../decide/placement/spot-memory.ts';
import type { Block } from '../../guard/context.ts';
import { type Approved, inspect } from '../../guard/guard.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { renderReason } from '../../lib/reasons.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { workloadKey } from '../../model/cluster-view.ts';
import type { WorkloadRecord } from '../../model/records.ts';
import type { DisruptionTurns } from '../disruption-turns.ts';
import type { Disruptions } from '../disruptions.ts';
import { blockOfEviction, blockOfThrottling } from '../eviction-block.ts';
import type { BlockReporter } from './block-reporter.ts';
import { moveFields } from './log-fields.ts';
import { countEviction } from './metrics.ts';
import type { MoveTracker } from './move-tracker.ts';
import type { PlacementRules } from './rules.ts';

export interface MovePodOptions {
  readonly rules: () => PlacementRules;
  readonly disruptions: Pick<Disruptions, 'contextWith' | 'disrupt' | 'history'> & {
    readonly turns: Pick<DisruptionTurns, 'take' | 'noteBlocked'>;
  };
  readonly moves: Pick<MoveTracker, 'started'>;
  readonly spot: Pick<SpotMemory, 'startProbe' | 'cancelProbe'>;
  readonly blocks: Pick<BlockReporter, 'report'>;
  readonly events: Pick<Events, 'onWorkload'>;
  readonly journal: EngineJournal;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Evicts one pod that serves, so that admission steers its replacement to the other side. Placement evicts such a pod
 * nowhere else.
 * @param plan the one that the decision is of.
 * @returns when to look again; undefined when the change of the pods will tell.
 * @throws EvictionError when the eviction failed for a reason that is not an expected answer.
 */
export type MovePod = (
  workload: WorkloadRecord,
  plan: Pick<WorkloadPlan, 'policy' | 'drift' | 'replicas'> & { readonly pods: readonly Pick<PodPlan, 'ref'>[] },
  decision: EvictDecision,
  signal: AbortSignal,
) => Promise<Millis | undefined>;

/** An eviction failed in a way that is worth a retry with back-off. The event and the metric were written already. */
export class EvictionError extends Error {
  override readonly name = 'EvictionError';
  readonly code = 'EVICTION_FAILED';
}

export function createMovePod(options: MovePodOptions): MovePod {
  const { rules, disruptions, blocks, clock } = options;
  const { turns } = disruptions;
  /**
   * The API server asked everybody to wait until then (429 with Retry-After and no PDB as its cause). Only evictions
   * wait: they are many and can.
   */
  let throttledUntil: EpochMillis = 0;

  return async (workload, plan, decision, signal) => {
    const blocked = (block: Block): Millis | undefined => {
      blocks.report(workload, decision, block);
      return block.retryAfterMillis;
    };
    const { policy, drift, replicas, pods } = plan;
    const key = workloadKey(workload);
    const candidate = { engine: 'placement', key, workloadUid: workload.uid, drift, replicas } as const;
    const context = disruptions.contextWith(policy, workload);
    const verdict = inspect(decision, context);
    if (verdict.kind === 'blocked') {
      turns.noteBlocked(candidate, verdict.block);
      return blocked(verdict.block);
    }
    if (throttledUntil > context.now) {
      const throttled = blockOfThrottling(throttledUntil - context.now);
      turns.noteBlocked(candidate, throttled);
      return blocked(throttled);
    }
    // Last: a candidate that a guard blocks would hold the place of the others for as long as it is blocked.
    const others = turns.take(candidate);
    if (others !== undefined) return blocked(others);

    const known = new Set(pods.map(({ ref }) => ref.uid));
    const { namespace, name } = decision.pod;
    const node = context.view.pod(namespace, name)?.nodeName;
    const outcome = await carryOut(options, { workload, known, node }, verdict.approved, signal);
    if (outcome.result === 'throttled') {
      throttledUntil = Math.max(throttledUntil, clock.now() + outcome.retryAfterMillis);
    }
    const { cooldownMillis, disruptionRetryMillis } = rules().settings;
    if (mayBeGone(outcome)) return cooldownMillis;
    if (outcome.result === 'forbidden' || outcome.result === 'failed') {
      throw tellFailure(options, workload, decision, outcome.message);
    }
    return blocked(blockOfEviction(outcome, decision.pod.name, disruptionRetryMillis));
  };
}

interface Moved {
  readonly workload: WorkloadRecord;
  /** Uids of its pods as they were seen when it was decided. */
  readonly known: ReadonlySet<string>;
  /** The pod's; with one its return counts for the pace of returns. */
  readonly node: string | undefined;
}

/** Evicts, and enters what came of it wherever it is remembered or told. */
async function carryOut(
  { disruptions, moves, spot, events, journal, metrics, clock, log }: MovePodOptions,
  { workload, known, node }: Moved,
  approved: Approved<EvictDecision>,
  signal: AbortSignal,
): Promise<EvictionOutcome> {
  const { decision } = approved;
  const { pod, from, why, isReturn = false } = decision;
  const { uid } = workload;
  const startedAt = clock.now();
  const { steering } = disruptions.history;
  steering.recordMove(startedAt);
  // Its replacement must find spot open, if only for this one pod.
  if (decision.to === 'spot') spot.startProbe(uid, startedAt);
  const outcome = await disruptions.disrupt(approved, signal);
  countEviction(metrics, workload, outcome.result);
  log.info({ ...moveFields(decision, node), from, result: outcome.result }, 'Eviction asked for');
  if (mayBeGone(outcome)) {
    moves.started(decision, startedAt, known);
    if (isReturn && node !== undefined) disruptions.history.recordReturn(uid, startedAt);
  } else {
    // One workload whose evictions are refused must not keep all others from trying spot.
    spot.cancelProbe(uid);
    steering.cancelMove(startedAt);
  }
  if (outcome.result === 'evicted') {
    const reason = isReturn ? 'ReturnedToSpot' : 'EvictedForRebalance';
    const message = renderReason(reason, { pod: pod.name, from, reason: why.summary });
    if (isReturn) metrics.inc('spotalis_returns_total', {});
    events.onWorkload(workload, { reason, message });
    journal.record(workloadKey(workload), { kind: 'done', reason, message, pod: pod.name, numbers: why.numbers });
  }
  return outcome;
}

/** @returns the error to be thrown. */
function tellFailure(
  { events, journal }: MovePodOptions,
  workload: WorkloadRecord,
  { pod: { name: pod } }: EvictDecision,
  error: string,
): EvictionError {
  const message = renderReason('EvictionFailed', { pod, error });
  events.onWorkload(workload, { reason: 'EvictionFailed', message, lasts: true });
  journal.record(workloadKey(workload), { kind: 'failed', reason: 'EvictionFailed', message, pod });
  return new EvictionError(message);
}
