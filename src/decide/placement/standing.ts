/** How a workload stands against its plan, in the words and figures that status, the demo and the dashboard share. */
import type { Decision, EvictDecision, FallbackDecision } from '../decision.ts';
import type { PodPlan, WorkloadPlan } from './plan.ts';
import type { SideCounts } from './slots.ts';

/**
 * `invalid`: a setting cannot be used, so the workload is left alone; `drifted`: replicas are on the wrong side;
 * `incomplete`: nothing is to be moved, yet the sides are not as wanted: replicas are missing, on an unknown side, or
 * too many for the moment of a rollout.
 */
export type Standing = 'unmanaged' | 'invalid' | 'drifted' | 'incomplete' | 'balanced';

export function standingOf(plan: Pick<WorkloadPlan, 'policy' | 'drift' | 'target' | 'actual'>): Standing {
  if (plan.policy.state !== 'managed') return plan.policy.state;
  if (plan.drift > 0) return 'drifted';
  return isBalanced(plan) ? 'balanced' : 'incomplete';
}

/**
 * Managed, and each side has exactly its target. A pod of an unknown side never counts as right, as it satisfies no
 * floor: with the targets met it is one more than the replicas asked for.
 */
export function isBalanced({ target, actual }: Pick<Sides, 'target' | 'actual'>): boolean {
  return (
    target !== undefined && actual.unknown === 0 && actual.spot === target.spot && actual.onDemand === target.onDemand
  );
}

/**
 * What a workload that is {@link Standing incomplete} waits for, in words: replicas that are not there, or on no known
 * side, or more than asked for. Undefined for any other.
 */
export function incompleteText({ target, actual, drift }: Sides): string | undefined {
  if (target === undefined || drift > 0 || isBalanced({ target, actual })) return undefined;
  const replicas = target.spot + target.onDemand;
  const missing = replicas - actual.spot - actual.onDemand - actual.unknown;
  const facts = [
    ...(missing > 0 ? [`${missing} of ${replicas} replicas ${missing === 1 ? 'is' : 'are'} not there`] : []),
    ...(missing < 0 ? [`${-missing} more than the ${replicas} asked for`] : []),
    ...(actual.unknown > 0 ? [`${actual.unknown} on an unknown side`] : []),
  ];
  return facts.length === 0 ? 'the sides are not as wanted yet' : facts.join(', ');
}

export interface Sides {
  readonly target?: SideCounts | undefined;
  readonly actual: SideCounts & { readonly unknown: number };
  readonly drift: number;
}

/** A pod that takes part: not terminating, not ended. */
export function isLivePod({ state }: Pick<PodPlan, 'state'>): boolean {
  return state !== 'terminating' && state !== 'ended';
}

export interface LiveCounts {
  /** Live pods that are ready. */
  readonly ready: number;
  /** Live pods without a node yet. */
  readonly pending: number;
}

export function liveCounts({ pods }: Pick<WorkloadPlan, 'pods'>): LiveCounts {
  const live = pods.filter(isLivePod);
  return {
    ready: live.filter(({ ready }) => ready).length,
    pending: live.filter(({ node }) => node === undefined).length,
  };
}

/** The eviction or fallback, of which a plan has one at most; a corrected stamp moves nothing. */
export function isMove(decision: Decision): decision is EvictDecision | FallbackDecision {
  return decision.kind !== 'restamp';
}
