/**
 * How fast replicas may follow what metrics ask for. Pure but for the history, which the caller keeps.
 * Source: pkg/controller/podautoscaler/horizontal.go `stabilizeRecommendation…`, `convertDesiredReplicasWithBehaviorRate`,
 * `calculateScaleUpLimit`.
 */
import type { HorizontalPodAutoscaler } from '../../../api/core.ts';
import type { EpochMillis, Millis } from '../../../lib/units.ts';

type Behavior = NonNullable<NonNullable<HorizontalPodAutoscaler['spec']>['behavior']>;
type Rules = NonNullable<Behavior['scaleUp']>;

const DOWN_WINDOW_MILLIS: Millis = 300_000;
const UP: Rules = {
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
};
const DOWN: Rules = { policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] };

/** What was wished for and done lately. */
export interface ScalingHistory {
  recommendations: { readonly at: EpochMillis; readonly replicas: number }[];
  /** Positive: pods added. */
  changes: { readonly at: EpochMillis; readonly by: number }[];
}

export interface ScalingInput {
  readonly current: number;
  /** What the metrics ask for. */
  readonly wanted: number;
  readonly least: number;
  readonly most: number;
  readonly behavior: Behavior | undefined;
  readonly now: EpochMillis;
}

export interface ScalingResult {
  readonly replicas: number;
  /** A window of stabilization changed what was wanted. */
  readonly stabilized: 'up' | 'down' | undefined;
  readonly limit: 'TooManyReplicas' | 'TooFewReplicas' | 'ScaleUpLimit' | 'ScaleDownLimit' | undefined;
}

export function applyScalingRules(input: ScalingInput, history: ScalingHistory): ScalingResult {
  const { current, wanted, least, most, behavior, now } = input;
  const upWindow = (behavior?.scaleUp?.stabilizationWindowSeconds ?? 0) * 1000;
  const downWindow = behavior?.scaleDown?.stabilizationWindowSeconds;
  const downWindowMillis = downWindow === undefined ? DOWN_WINDOW_MILLIS : downWindow * 1000;
  const longest = Math.max(upWindow, downWindowMillis);
  const recent = history.recommendations.filter(({ at }) => now - at <= longest);
  const within = (window: Millis): number[] =>
    recent.filter(({ at }) => now - at < window).map(({ replicas }) => replicas);
  const lowest = Math.min(wanted, ...within(upWindow));
  const highest = Math.max(wanted, ...within(downWindowMillis));
  history.recommendations = [...recent, { at: now, replicas: wanted }];

  // Inside the corridor of recent wishes the present number is kept; outside it moves no further than to the edge.
  const chosen = Math.max(lowest, Math.min(current, highest));
  const stabilized = chosen === wanted ? undefined : wanted < current ? 'down' : 'up';

  if (chosen > current) {
    const limit = Math.max(current, upLimit(behavior, current, history, now));
    const replicas = Math.min(chosen, limit, most);
    const reason = chosen <= replicas ? undefined : limit < most ? 'ScaleUpLimit' : 'TooManyReplicas';
    return { replicas, stabilized, limit: reason };
  }
  const floor = chosen < current ? downLimit(behavior?.scaleDown ?? DOWN, current, history, now) : 0;
  const replicas = Math.min(most, Math.max(chosen, floor, least));
  const reason =
    chosen > most
      ? 'TooManyReplicas'
      : chosen >= replicas
        ? undefined
        : floor > least
          ? 'ScaleDownLimit'
          : 'TooFewReplicas';
  return { replicas, stabilized, limit: reason };
}

/** Without a behavior no rate is kept: twice as many at each look, or four. */
function upLimit(behavior: Behavior | undefined, current: number, history: ScalingHistory, now: EpochMillis): number {
  if (behavior === undefined) return Math.max(2 * current, 4);
  const { scaleUp: rules = UP } = behavior;
  if (rules.selectPolicy === 'Disabled') return current;
  const limits = (rules.policies ?? UP.policies ?? []).map(({ type, value, periodSeconds }) => {
    const before = current - changed(history, now, periodSeconds, 1);
    return type === 'Pods' ? before + value : Math.ceil(before * (1 + value / 100));
  });
  return rules.selectPolicy === 'Min' ? Math.min(...limits) : Math.max(...limits);
}

function downLimit(rules: Rules, current: number, history: ScalingHistory, now: EpochMillis): number {
  if (rules.selectPolicy === 'Disabled') return current;
  const limits = (rules.policies ?? DOWN.policies ?? []).map(({ type, value, periodSeconds }) => {
    const before = current + changed(history, now, periodSeconds, -1);
    return type === 'Pods' ? before - value : Math.floor(before * (1 - value / 100));
  });
  return rules.selectPolicy === 'Min' ? Math.max(...limits) : Math.min(...limits);
}

/** Pods added (sign 1) or taken away (sign -1) in the last `seconds`. */
function changed({ changes }: ScalingHistory, now: EpochMillis, seconds: number, sign: 1 | -1): number {
  return changes
    .filter(({ at, by }) => now - at < seconds * 1000 && by * sign > 0)
    .reduce((total, { by }) => total + by * sign, 0);
}
