/**
 * Evicts a given pod so that its replacement has another size: asks the guards of sizes and of evictions, and takes a
 * place of the budget.
 */
import type { EvictionOutcome } from '../../act/eviction-outcome.ts';
import { answer, type ReadAnswer, readAnswer } from '../../act/resize-answers.ts';
import { floorCount } from '../../decide/placement/slots.ts';
import type { EvictToResizeDecision } from '../../decide/size-decision.ts';
import type { Block } from '../../guard/context.ts';
import { inspect } from '../../guard/guard.ts';
import type { SizeGuardContext } from '../../guard/size/context.ts';
import { inspectSize } from '../../guard/size/inspect-size.ts';
import type { SizeLog } from '../../guard/size/size-history.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { describeReason, type ReasonNameOf, reason } from '../../lib/reasons.ts';
import type { PolicySpec } from '../../model/policy-spec.ts';
import type { Disruptions } from '../disruptions.ts';
import { countEviction } from '../placement/metrics.ts';
import { askForPlace } from './place.ts';
import type { AttemptOutcome } from './result.ts';

export interface GuardedEvictionOptions {
  readonly contextFor: (spec: PolicySpec) => SizeGuardContext;
  readonly disruptions: () => Disruptions;
  readonly history: SizeLog;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

/**
 * Both lists of guards are asked, that of sizes first: its windows are the policy's, and it knows whether replacements
 * get their size at admission.
 * @param isTrial asks the guards only: `asked` means that nothing objects.
 */
export type GuardedEviction = (
  decision: EvictToResizeDecision,
  spec: PolicySpec,
  signal: AbortSignal,
  isTrial?: boolean,
) => Promise<AttemptOutcome>;

export function createGuardedEviction(options: GuardedEvictionOptions): GuardedEviction {
  const { contextFor, history, metrics, clock } = options;
  return async (decision, spec, signal, isTrial = false) => {
    const disruptions = options.disruptions();
    const size = inspectSize(decision, contextFor(spec));
    if (size.kind === 'blocked') return askForPlace(disruptions.turns, decision, size);
    const context = disruptions.contextOf(decision.workloadUid);
    if (context === undefined) return { kind: 'gone' };
    const { policy } = context;
    const { replicas = 0 } = context.view.workloadByUid(decision.workloadUid) ?? {};
    const onDemandFloor = policy.state === 'managed' ? floorCount(policy.rule, replicas) : 0;
    const found = inspect({ ...decision, onDemandFloor }, context);
    const verdict = askForPlace(disruptions.turns, decision, found, isTrial);
    if (verdict.kind === 'blocked') return verdict;
    if (isTrial) return { kind: 'asked', tookFrom: [] };
    const { workload, workloadUid } = decision;
    history.recordChange(workloadUid, clock.now());
    const outcome = await disruptions.disrupt(verdict.approved, signal);
    countEviction(metrics, workload, outcome.result);
    const result = resultOf(decision, outcome, context.settings.disruptionRetryMillis);
    if (result.kind === 'refused') history.recordFailure(workloadUid, clock.now(), result.answer.message);
    return result;
  };
}

/** What the answer of the eviction API means. */
function resultOf({ pod }: EvictToResizeDecision, outcome: EvictionOutcome, retryMillis: number): AttemptOutcome {
  const blocked = (name: ReasonNameOf<'block'>, message: string, retryAfterMillis: number): AttemptOutcome => {
    const { advice } = describeReason(name);
    const block: Block = { rule: 'api', reason: name, message, advice, retryAfterMillis };
    return { kind: 'blocked', block };
  };
  const refused = (given: ReadAnswer): AttemptOutcome => ({ kind: 'refused', answer: given });
  switch (outcome.result) {
    case 'evicted':
    case 'unknown':
      return { kind: 'asked', tookFrom: [] };
    case 'gone':
      return { kind: 'gone' };
    case 'changed':
      return blocked('PreconditionFailed', reason('PreconditionFailed', { pod: pod.name }).message, retryMillis);
    case 'blocked-by-pdb':
      return blocked('BlockedByPdb', outcome.message, retryMillis);
    case 'multiple-pdbs':
      return blocked('MultiplePdbs', outcome.message, retryMillis);
    case 'throttled': {
      const retryAfter = `${Math.ceil(outcome.retryAfterMillis / 1000)}s`;
      return blocked('ThrottledByApi', reason('ThrottledByApi', { retryAfter }).message, outcome.retryAfterMillis);
    }
    case 'forbidden':
      // A missing right, or a webhook that refuses: their texts are in the table.
      return refused(
        readAnswer('answer', outcome.message) ?? answer('ResizeAdmissionDenied', 'give-up', outcome.message),
      );
    default:
      return refused(answer('ResizeApiTrouble', 'retry', outcome.message));
  }
}
