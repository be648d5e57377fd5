/**
 * Evicts a given pod so that its replacement has another size: asks the guards of sizes and of evictions, and takes a
 * place of the budget.
 */
import type { EvictionOutcome } from '../../act/eviction-outcome.ts';
import { answer, readAnswer } from '../../act/resize-answers.ts';
import { floorCount } from '../../decide/placement/slots.ts';
import type { EvictToResizeDecision } from '../../decide/size-decision.ts';
import { inspect } from '../../guard/guard.ts';
import { inspectSize } from '../../guard/size/inspect-size.ts';
import type { Millis } from '../../lib/units.ts';
import type { PolicySpec } from '../../model/policy-spec.ts';
import type { DisruptionTurns } from '../disruption-turns.ts';
import { blockOfEviction } from '../eviction-block.ts';
import { countEviction } from '../placement/metrics.ts';
import type { SizeActuatorOptions, SizeContext } from './actuator.ts';
import { askForTurn } from './budget-turn.ts';
import type { AttemptOutcome } from './result.ts';

export interface GuardedEvictionOptions
  extends Pick<SizeActuatorOptions, 'disruptions' | 'history' | 'metrics' | 'clock'> {
  readonly contextFor: SizeContext;
}

/**
 * Both lists of guards are asked, that of sizes first: its windows are the policy's, and it knows whether replacements
 * get their size at admission.
 */
export interface GuardedEviction {
  /** `asked`: the API server took it, or may have. */
  evict(decision: EvictToResizeDecision, spec: PolicySpec, signal: AbortSignal): Promise<AttemptOutcome>;
  /** Asks the guards only, and reserves a place. `asked`: nothing objects. */
  tryEviction(decision: EvictToResizeDecision, spec: PolicySpec): AttemptOutcome;
}

export function createGuardedEviction(options: GuardedEvictionOptions): GuardedEviction {
  const { contextFor, disruptions, history, metrics, clock } = options;
  const { turns } = disruptions;
  const inspectBoth = (decision: EvictToResizeDecision, spec: PolicySpec, take: DisruptionTurns['take']) => {
    const line = { take, noteBlocked: turns.noteBlocked };
    const size = inspectSize(decision, contextFor(spec));
    if (size.kind === 'blocked') return askForTurn(line, decision, size);
    const context = disruptions.contextOf(decision.workloadUid);
    if (context === undefined) return { kind: 'gone' } as const;
    const { policy, settings } = context;
    const { replicas = 0 } = context.view.workloadByUid(decision.workloadUid) ?? {};
    const onDemandFloor = policy.state === 'managed' ? floorCount(policy.rule, replicas) : 0;
    const verdict = askForTurn(line, decision, inspect({ ...decision, onDemandFloor }, context));
    return verdict.kind === 'approved' ? { ...verdict, retryMillis: settings.disruptionRetryMillis } : verdict;
  };
  return {
    async evict(decision, spec, signal) {
      const verdict = inspectBoth(decision, spec, turns.take);
      if (verdict.kind !== 'approved') return verdict;
      const { workload, workloadUid } = decision;
      history.recordChange(workloadUid, clock.now());
      const outcome = await disruptions.disrupt(verdict.approved, signal);
      countEviction(metrics, workload, outcome.result);
      const result = resultOf(decision, outcome, verdict.retryMillis);
      if (result.kind === 'refused') history.recordFailure(workloadUid, clock.now(), result.answer.message);
      return result;
    },
    tryEviction(decision, spec) {
      const verdict = inspectBoth(decision, spec, turns.reserve);
      return verdict.kind === 'approved' ? { kind: 'asked', tookFrom: [] } : verdict;
    },
  };
}

/** What the answer of the eviction API means. */
function resultOf({ pod }: EvictToResizeDecision, outcome: EvictionOutcome, retryMillis: Millis): AttemptOutcome {
  switch (outcome.result) {
    case 'evicted':
    case 'unknown':
      return { kind: 'asked', tookFrom: [] };
    case 'gone':
      return { kind: 'gone' };
    case 'forbidden': {
      // A missing right, or a webhook that refuses: their texts are in the table.
      const { message } = outcome;
      const refusal = readAnswer('answer', message) ?? answer('ResizeAdmissionDenied', 'give-up', message);
      return { kind: 'refused', answer: refusal };
    }
    case 'failed':
      return { kind: 'refused', answer: answer('ResizeApiTrouble', 'retry', outcome.message) };
    default:
      return { kind: 'blocked', block: blockOfEviction(outcome, pod.name, retryMillis) };
  }
}
