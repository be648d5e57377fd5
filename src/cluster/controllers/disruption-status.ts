/** How many voluntary disruptions a PodDisruptionBudget allows now. Pure. */
import type { Pod, PodDisruptionBudget } from '../../api/core.ts';
import { resolveIntOrPercent } from '../int-or-percent.ts';
import { nameOf, timeOf, timestampOf, withCondition } from '../objects.ts';
import { isReady, isTerminating } from '../pod-state.ts';

type BudgetStatus = NonNullable<PodDisruptionBudget['status']>;

/** An eviction that has not led to a deletion by then is taken to have failed. Source: pkg/controller/disruption. */
export const DELETION_TIMEOUT_MILLIS = 2 * 60_000;

/** One sentence. */
export interface ScaleProblem {
  readonly problem: string;
}

/** What a budget's status follows from. */
export interface BudgetInput {
  readonly budget: PodDisruptionBudget;
  /** Every pod its selector matches. */
  readonly pods: readonly Pod[];
  /** Sum of the scales of the pods' controllers, or why there is none. Pods without a controller are not in it. */
  readonly expectedScale: number | ScaleProblem;
  readonly nowMillis: number;
}

/** The status as it should be, and when the passing of time alone will change it. */
export interface BudgetVerdict {
  readonly status: BudgetStatus;
  readonly recheckAfterMillis: number | undefined;
}

/** Source: pkg/controller/disruption/disruption.go `trySync`, and `failSafe` where the scale is not known. */
export function budgetStatus({ budget, pods, expectedScale, nowMillis }: BudgetInput): BudgetVerdict {
  const counts = expectedCounts(budget, pods.length, expectedScale);
  if ('problem' in counts) return { status: failedStatus(budget, counts, nowMillis), recheckAfterMillis: undefined };
  const { disrupted, recheckAfterMillis } = disruptedPods(budget, pods, nowMillis);
  const currentHealthy = pods.filter(
    (pod) => isReady(pod) && !isTerminating(pod) && disrupted[nameOf(pod)] === undefined,
  ).length;
  const allowed = counts.expectedPods === 0 ? 0 : Math.max(0, currentHealthy - counts.desiredHealthy);
  const generation = budget.metadata?.generation ?? 0;
  const condition = {
    type: 'DisruptionAllowed',
    status: allowed > 0 ? 'True' : 'False',
    reason: allowed > 0 ? 'SufficientPods' : 'InsufficientPods',
    message: '',
    observedGeneration: generation,
    lastTransitionTime: timestampOf(nowMillis),
  };
  const status: BudgetStatus = {
    currentHealthy,
    desiredHealthy: counts.desiredHealthy,
    disruptionsAllowed: allowed,
    expectedPods: counts.expectedPods,
    observedGeneration: generation,
    conditions: withCondition(budget.status?.conditions, condition),
    ...(Object.keys(disrupted).length === 0 ? {} : { disruptedPods: disrupted }),
  };
  return { status, recheckAfterMillis };
}

/** Nothing is allowed; all else stays as it was last known, the generation too, so that evictions are put off. */
function failedStatus({ status }: PodDisruptionBudget, { problem }: ScaleProblem, nowMillis: number): BudgetStatus {
  const known = { currentHealthy: 0, desiredHealthy: 0, expectedPods: 0, ...status };
  const condition = {
    type: 'DisruptionAllowed',
    status: 'False',
    reason: 'SyncFailed',
    message: problem,
    ...(known.observedGeneration === undefined ? {} : { observedGeneration: known.observedGeneration }),
    lastTransitionTime: timestampOf(nowMillis),
  };
  return { ...known, disruptionsAllowed: 0, conditions: withCondition(known.conditions, condition) };
}

/** `minAvailable` as a number needs no scale: the pods there are, are the ones expected. */
function expectedCounts(
  budget: PodDisruptionBudget,
  podCount: number,
  scale: number | ScaleProblem,
): { readonly expectedPods: number; readonly desiredHealthy: number } | ScaleProblem {
  const { minAvailable, maxUnavailable } = budget.spec ?? {};
  if (maxUnavailable !== undefined) {
    if (typeof scale === 'object') return scale;
    const unavailable = resolveIntOrPercent(maxUnavailable, scale, 'up') ?? 0;
    return { expectedPods: scale, desiredHealthy: Math.max(0, scale - unavailable) };
  }
  if (typeof minAvailable === 'number') return { expectedPods: podCount, desiredHealthy: minAvailable };
  // It expects none, and so allows none.
  if (minAvailable === undefined) return { expectedPods: 0, desiredHealthy: 0 };
  if (typeof scale === 'object') return scale;
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
