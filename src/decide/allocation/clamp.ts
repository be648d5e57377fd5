/** A record of every rule that moved a number, with the number before and after. */

/** Labels of `mbcas_clamp_total`. */
export const clampReasons = [
  'PriorityClass',
  'ResourceQuota',
  'NodePressure',
  'NodeNotReady',
  'LimitRange',
  'LimitRangeConflict',
  'LimitRatio',
  'HorizontalPodAutoscaler',
  'PodDisruptionBudget',
  'TopologySpread',
  'NodeAffinity',
  'Readiness',
  'UnreadyBoost',
  'RolledBack',
  'StartupGrace',
  'CustomMetric',
  'DataUnknown',
  'KernelMinimum',
  'MaxCpu',
  'TenantBound',
  'UserLimit',
  'ResizeInFlight',
  'ResizeRefused',
  'StepLimit',
  'StepRelaxed',
  'GuardRelaxed',
  'Coalition',
  'SystemUse',
  'SteadySum',
  'QosClass',
] as const;

export type ClampReason = (typeof clampReasons)[number];

export interface Clamp {
  readonly reason: ClampReason;
  /** What was moved. */
  readonly what: 'capacity' | 'weight' | 'want' | 'min' | 'max' | 'share' | 'request' | 'limit';
  /** Millicores, or the weight; Infinity: no bound. */
  readonly before: number;
  readonly after: number;
}

/** One sentence with the figures, for conditions and the journal. */
export function describeClamp({ reason, what, before, after }: Clamp): string {
  const unit = what === 'weight' ? '' : 'm';
  const text = (value: number): string =>
    Number.isFinite(value) ? `${Math.round(value * 1000) / 1000}${unit}` : 'unbounded';
  return `${reason}: ${what} ${text(before)} -> ${text(after)}`;
}
