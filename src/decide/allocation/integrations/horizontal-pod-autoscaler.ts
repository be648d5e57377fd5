/**
 * Integration 5, HorizontalPodAutoscaler: one that scales by CPU utilization divides usage by the request, so a changed
 * request would change the number of replicas (k/k#142155). Such pods keep their request; only their ceiling may move.
 */
import type { EpochMillis, Millicores, Millis } from '../../../lib/units.ts';
import type { OwnerReference } from '../../../model/records.ts';
import { isTarget, type ScaleTarget } from '../../../model/scale-target.ts';
import type { HpaRecord, SizedWorkload } from '../../../model/sizing-records.ts';
import type { HpaMode } from '../marks.ts';

/**
 * How autoscalers of replicas bind a pod: they divide usage by the request, so whoever moves the request moves their
 * measure.
 */
export interface HpaEffect {
  /** The request stays as it is. */
  readonly isRequestFrozen: boolean;
  /** The ceiling stays at or above this, so that the autoscaler's threshold can be reached. */
  readonly limitMin: Millicores | undefined;
  /** Replicas are changing: no decrease. */
  readonly isScaling: boolean;
  /** A step of at most this share, and a dead-band so many times as wide. */
  readonly step: number | undefined;
  readonly bandFactor: number;
}

const none: HpaEffect = {
  isRequestFrozen: false,
  limitMin: undefined,
  isScaling: false,
  step: undefined,
  bandFactor: 1,
};
const SETTLING: Millis = 300_000;
/** Room above the threshold. */
const ROOM = 1.2;
const STEP = 0.1;
const BAND_FACTOR = 2;

/** `hpas`: those that target the pod's workload. `request`: what the autoscaler divides by. */
export function judgeHpas(hpas: readonly HpaRecord[], mode: HpaMode, request: Millicores, now: EpochMillis): HpaEffect {
  if (mode === 'ignore') return none;
  const frozen = { ...none, isRequestFrozen: true, step: STEP, bandFactor: BAND_FACTOR };
  const isScaling = hpas.some(
    ({ currentReplicas, desiredReplicas, lastScaleAt }) =>
      currentReplicas !== desiredReplicas || (lastScaleAt !== undefined && now - lastScaleAt < SETTLING),
  );
  const targets = hpas.flatMap(cpuTargets);
  if (targets.length === 0) {
    return mode === 'limits-only' ? { ...frozen, limitMin: request, isScaling } : { ...none, isScaling };
  }
  // Nothing more can be had from replicas: growing is all that is left, and cannot make it scale up further.
  const isAtMost = hpas.every(({ currentReplicas, maxReplicas }) => currentReplicas >= maxReplicas);
  if (isAtMost && mode === 'auto') return { ...none, isScaling: true };
  const limitMin = Math.max(request, ...targets.map((percent) => Math.ceil((request * percent * ROOM) / 100)));
  return { ...frozen, limitMin, isScaling };
}

function cpuTargets({ utilization, containerUtilization }: HpaRecord): number[] {
  const ofContainers = containerUtilization.filter(({ resource }) => resource === 'cpu').map(({ percent }) => percent);
  return utilization.cpu === undefined ? ofContainers : [utilization.cpu, ...ofContainers];
}

/** Whose replica a pod is. */
export interface Replica {
  /** Undefined: nobody's, or of a kind that is not read. */
  readonly workload: SizedWorkload | undefined;
  /** The controller that made the pod; undefined for a bare pod. */
  readonly owner: OwnerReference | undefined;
}

/**
 * Those that scale the pod's workload; none scales a bare pod. What owns a pod may be of a kind that is not read: then
 * each counts whose target is not known either, as that may be it.
 * @param hpas of the pod's namespace. @param isKnown whether the target is a workload that is read.
 */
export function hpasOf(
  { workload, owner }: Replica,
  hpas: readonly HpaRecord[],
  isKnown: (target: ScaleTarget) => boolean,
): HpaRecord[] {
  if (workload !== undefined) {
    return hpas.filter(({ namespace, target }) => namespace === workload.namespace && isTarget(target, workload));
  }
  if (owner === undefined) return [];
  const own = hpas.filter(({ target }) => isTarget(target, owner));
  return own.length > 0 ? own : hpas.filter(({ target }) => !isKnown(target));
}
