/**
 * What a HorizontalPodAutoscaler has to say. It compares usage with the request: lower the request by a fifth and, at
 * the same usage, it adds replicas; their usage falls, and the request with it, for ever (gardener#10083, KRR#169).
 */
import type { HpaMode } from '../../api/optimization-policy.ts';
import { isTarget, type ScaledObject } from '../../model/scale-target.ts';
import type { HpaRecord } from '../../model/sizing-records.ts';
import { holdAdvice, type ResourceAdvice } from './advice.ts';
import { formatAmount, type ResourceName } from './amount-text.ts';

/**
 * A target of type Utilization; those of an absolute amount do not depend on requests and are no reason to hold
 * anything.
 */
export interface HpaTarget {
  readonly hpa: string;
  /** Of the request; may be above 100. */
  readonly percent: number;
  /** Of what all containers of the pod request together; else of this one's. */
  readonly isOfPod: boolean;
}

/** What the autoscaler's target is a share of: now, and with the advice followed. */
export interface ScaleBasis {
  readonly current: number;
  readonly advised: number;
}

/** By which utilization the replicas of the workload are scaled, where this container's request plays a part in it. */
export function hpaTargetOf(
  hpas: readonly HpaRecord[],
  workload: ScaledObject,
  container: string,
  resource: ResourceName,
): HpaTarget | undefined {
  for (const { name, target, utilization, containerUtilization } of hpas) {
    if (!isTarget(target, workload)) continue;
    const own = containerUtilization.find((each) => each.container === container && each.resource === resource);
    if (own !== undefined) return { hpa: name, percent: own.percent, isOfPod: false };
    const percent = utilization[resource];
    if (percent !== undefined) return { hpa: name, percent, isOfPod: true };
  }
  return undefined;
}

/**
 * Holds back what would move the point at which the autoscaler scales, as far as the policy wants it.
 * @param pod what all containers request together; left out, the container is the only one.
 */
export function respectHpa(
  advice: ResourceAdvice,
  resource: ResourceName,
  mode: HpaMode,
  target: HpaTarget | undefined,
  current: number | undefined,
  pod?: ScaleBasis,
): ResourceAdvice {
  const { request } = advice;
  if (target === undefined || mode === 'Ignore' || request === undefined || request === current) return advice;
  const by = `HorizontalPodAutoscaler ${target.hpa} scales by ${target.percent} % of the ${resource} request`;
  const hold = (text: string, held: 'HpaTarget' | 'HpaScalePoint' = 'HpaTarget'): ResourceAdvice =>
    holdAdvice(advice, held, `${by}: ${text}`);
  // Where nothing is requested yet, the autoscaler has nothing to go by, and no point to be moved.
  if (current === undefined) return advice;
  if (mode === 'Skip') return hold('the request stays');
  if (mode === 'KeepScalePoint') {
    const basis = (target.isOfPod ? pod : undefined) ?? { current, advised: request };
    return hold(
      `to request ${formatAmount(resource, request)} and go on scaling at the same usage, set its target to ${equivalentTarget(target.percent, basis)} % and hpa: Ignore`,
      'HpaScalePoint',
    );
  }
  if (advice.limit === undefined) return hold('only limits may change');
  const note = { stage: 'hpa', value: current, text: `${by}: only the limit changes` } as const;
  const limitBeside = (limit: number): number => Math.max(limit, current);
  return {
    ...advice,
    request: current,
    limit: limitBeside(advice.limit),
    targetLimit: limitBeside(advice.targetLimit ?? advice.limit),
    notes: [...advice.notes, note],
  };
}

/** The utilization at which usage is what it was: target times request stays the same. */
export function equivalentTarget(percent: number, { current, advised }: ScaleBasis): number {
  return Math.max(1, Math.round((percent * current) / advised));
}
