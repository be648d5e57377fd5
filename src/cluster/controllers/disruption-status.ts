/** How many voluntary disruptions a PodDisruptionBudget allows now. Pure. */
import type { Pod, PodDisruptionBudget } from '../../api/core.ts';
import { resolveIntOrPercent } from '../int-or-percent.ts';
import { nameOf, timeOf, timestampOf, withCondition } from '../objects.ts';
import { isReady, isTerminating } from '../pod-state.ts';

type BudgetStatus = NonNullable<PodDisruptionBudget['status']>;

/** An eviction that has not led to a deletion by then is taken to have failed. Source: pkg/controller/disruption. */
export const DELETION_TIMEOUT_MILLIS = 2 * 60_000;

export interface BudgetInput {
  readonly budget: PodDisruptionBudget;
  /** Every pod its selector matches. */
  readonly pods: readonly Pod[];
  /** Sum of the scales of the pods' controllers; undefined when one of them has none. */
  readonly expectedScale: number | undefined;
  readonly nowMillis: number;
}

/** The status as it should be, and when the passing of time alone will change it. */
export interface BudgetVerdict {
  readonly status: BudgetStatus;
  readonly recheckAfterMillis: number | undefined;
}

export function budgetStatus({ budget, pods, expectedScale, nowMillis }: BudgetInput): BudgetVerdict {
  const { disrupted, recheckAfterMillis } = disruptedPods(budget, pods, nowMillis);
  const currentHealthy = pods.filter(
    (pod) => isReady(pod) && !isTerminating(pod) && disrupted[nameOf(pod)] === undefined,
  ).length;
  const counts = expectedCounts(budget, pods.length, expectedScale);
  const allowed =
    counts === undefined || counts.expectedPods === 0 ? 0 : Math.max(0, currentHealthy - counts.desiredHealthy);
  const generation = budget.metadata?.generation ?? 0;
  const condition = {
    type: 'DisruptionAllowed',
    status: allowed > 0 ? 'True' : 'False',
    reason: counts === undefined ? 'SyncFailed' : allowed > 0 ? 'SufficientPods' : 'InsufficientPods',
    message:
      counts === undefined ? 'The controllers of the pods have no scale, so a percentage cannot be computed.' : '',
    observedGeneration: generation,
    lastTransitionTime: timestampOf(nowMillis),
  };
  const status: BudgetStatus = {
    currentHealthy,
    desiredHealthy: counts?.desiredHealthy ?? 0,
    disruptionsAllowed: allowed,
    expectedPods: counts?.expectedPods ?? 0,
    observedGeneration: generation,
    conditions: withCondition(budget.status?.conditions, condition),
    ...(Object.keys(disrupted).length === 0 ? {} : { disruptedPods: disrupted }),
  };
  return { status, recheckAfterMillis };
}

/** `minAvailable` as a number needs no scale: the pods there are, are the ones expected. */
function expectedCounts(
  budget: PodDisruptionBudget,
  podCount: number,
  scale: number | undefined,
): { expectedPods: number; desiredHealthy: number } | undefined {
  const { minAvailable, maxUnavailable } = budget.spec ?? {};
  if (maxUnavailable !== undefined) {
    if (scale === undefined) return undefined;
    const unavailable = resolveIntOrPercent(maxUnavailable, scale, 'up') ?? 0;
    return { expectedPods: scale, desiredHealthy: Math.max(0, scale - unavailable) };
  }
  if (typeof minAvailable === 'number') return { expectedPods: podCount, desiredHealthy: minAvailable };
  if (minAvailable === undefined) return { expectedPods: podCount, desiredHealthy: 0 };
  if (scale === undefined) return undefined;
  return { expectedPods: scale, desiredHealthy: resolveIntOrPercent(minAvailable, scale, 'up') ?? 0 };
}

/** Evictions granted whose pods are not terminating yet; they count as unhealthy already. */
function disruptedPods(
  budget: PodDisruptionBudget,
  pods: readonly Pod[],
  nowMillis: number,
): { disrupted: Record<string, string>; recheckAfterMillis: number | undefined } {
  const recorded = budget.status?.disruptedPods ?? {};
  const disrupted: Record<string, string> = {};
  let recheckAfterMillis: number | undefined;
  for (const pod of pods) {
    const since = recorded[nameOf(pod)];
    const expiresAt = (timeOf(since) ?? 0) + DELETION_TIMEOUT_MILLIS;
    if (since === undefined || isTerminating(pod) || expiresAt <= nowMillis) continue;
    disrupted[nameOf(pod)] = since;
    recheckAfterMillis = Math.min(recheckAfterMillis ?? Number.POSITIVE_INFINITY, expiresAt - nowMillis);
  }
  return { disrupted, recheckAfterMillis };
}
