/** The status of a HorizontalPodAutoscaler in the words of the real controller. Pure. Source: pkg/controller/podautoscaler/horizontal.go. */
import type { HorizontalPodAutoscaler } from '../../../api/core.ts';
import { type Condition, timestampOf, withCondition } from '../../objects.ts';
import type { ScalingResult } from './scaling-rules.ts';

export type AutoscalerStatus = NonNullable<HorizontalPodAutoscaler['status']>;
export type MetricStatus = NonNullable<AutoscalerStatus['currentMetrics']>[number];

export interface Said {
  readonly type: 'AbleToScale' | 'ScalingActive' | 'ScalingLimited' | 'ScaledToZero';
  readonly status: boolean;
  readonly reason: string;
  readonly message: string;
}

const say = (type: Said['type'], status: boolean, reason: string, message: string): Said => ({
  type,
  status,
  reason,
  message,
});

export const noScale = (why: string): Said =>
  say(
    'AbleToScale',
    false,
    'FailedGetScale',
    `the HPA controller was unable to get the target's current scale: ${why}`,
  );

export const hasScale: Said = say(
  'AbleToScale',
  true,
  'SucceededGetScale',
  "the HPA controller was able to get the target's current scale",
);

export const isDisabled: Said = say(
  'ScalingActive',
  false,
  'ScalingDisabled',
  'scaling is disabled since the replica count of the target is zero',
);

export const isActive = (metric: string): Said =>
  say(
    'ScalingActive',
    true,
    'ValidMetricFound',
    `the HPA was able to successfully calculate a replica count from ${metric}`,
  );

export const isInactive = (why: string): Said =>
  say('ScalingActive', false, 'FailedGetResourceMetric', `the HPA was unable to compute the replica count: ${why}`);

export const notZero: Said = say(
  'ScaledToZero',
  false,
  'NotScaledToZero',
  'the HPA controller did not scale the workload to zero',
);

/** @param isRescaled whether the target is being given another number. */
export function ableToScale({ stabilized, replicas }: ScalingResult, isRescaled: boolean): Said {
  if (isRescaled)
    return say(
      'AbleToScale',
      true,
      'SucceededRescale',
      `the HPA controller was able to update the target scale to ${replicas}`,
    );
  if (stabilized === 'down')
    return say(
      'AbleToScale',
      true,
      'ScaleDownStabilized',
      'recent recommendations were higher than current one, applying the highest recent recommendation',
    );
  if (stabilized === 'up')
    return say(
      'AbleToScale',
      true,
      'ScaleUpStabilized',
      'recent recommendations were lower than current one, applying the lowest recent recommendation',
    );
  return say('AbleToScale', true, 'ReadyForNewScale', 'recommended size matches current size');
}

const LIMITS = {
  TooManyReplicas: 'the desired replica count is more than the maximum replica count',
  TooFewReplicas: 'the desired replica count is less than the minimum replica count',
  ScaleUpLimit: 'the desired replica count is increasing faster than the maximum scale rate',
  ScaleDownLimit: 'the desired replica count is decreasing faster than the maximum scale rate',
} as const;

export function limitedBy({ limit }: ScalingResult): Said {
  return limit === undefined
    ? say('ScalingLimited', false, 'DesiredWithinRange', 'the desired count is within the acceptable range')
    : say('ScalingLimited', true, limit, LIMITS[limit]);
}

/** Conditions move their time only where their status changes. */
export function withSaid(status: AutoscalerStatus | undefined, said: readonly Said[], now: number): Condition[] {
  return said.reduce<Condition[]>(
    (conditions, { type, status: isTrue, reason, message }) =>
      withCondition(conditions, {
        type,
        status: isTrue ? 'True' : 'False',
        lastTransitionTime: timestampOf(now),
        reason,
        message,
      }),
    [...(status?.conditions ?? [])],
  );
}
