/** What the state of a pod means to controllers: active, ready, available, terminating. */
import type { Pod } from '../api/core.ts';
import { findCondition, isSameValue, timeOf } from './objects.ts';

/** Terminating pods have a deletion timestamp; they still occupy their node. */
export function isTerminating(pod: Pod): boolean {
  return pod.metadata?.deletionTimestamp !== undefined;
}

/** Succeeded or Failed: will never run again and holds no resources. */
export function isFinished(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}

/** Counts as a replica: neither finished nor terminating. Source: pkg/controller `IsPodActive`. */
export function isActive(pod: Pod): boolean {
  return !isFinished(pod) && !isTerminating(pod);
}

export function isReady(pod: Pod): boolean {
  return findCondition(pod.status?.conditions, 'Ready')?.status === 'True';
}

/** When the pod became ready; undefined while it is not. */
export function readySince(pod: Pod): number | undefined {
  const condition = findCondition(pod.status?.conditions, 'Ready');
  return condition?.status === 'True' ? timeOf(condition.lastTransitionTime) : undefined;
}

/**
 * When the pod is (or will be, if it stays ready) available: ready for at least `minReadySeconds`.
 * Undefined while it is not ready.
 */
export function availableAt(pod: Pod, minReadySeconds: number): number | undefined {
  const since = readySince(pod);
  return since === undefined ? undefined : since + minReadySeconds * 1000;
}

/** @param minReadySeconds of the controller, not the pod: two controllers may judge one pod differently. */
export function isAvailable(pod: Pod, minReadySeconds: number, nowMillis: number): boolean {
  if (!isReady(pod)) return false;
  if (minReadySeconds === 0) return true;
  const at = availableAt(pod, minReadySeconds);
  return at !== undefined && at <= nowMillis;
}

/** Highest restart count of any regular container; 0 before the kubelet reported. */
export function maxRestarts(pod: Pod): number {
  return Math.max(0, ...(pod.status?.containerStatuses ?? []).map((status) => status.restartCount));
}

/**
 * Whether a pod's spec stayed as it was between two versions. The generation says so at no cost, but for binding, which
 * does not raise it; servers before 1.33 keep none for pods, so that specs are compared.
 */
export function isSameSpec(before: Pod, after: Pod): boolean {
  if (before.spec === after.spec) return true;
  if (before.spec?.nodeName !== after.spec?.nodeName) return false;
  const generation = after.metadata?.generation;
  if (generation !== undefined && generation > 0) return before.metadata?.generation === generation;
  return isSameValue(before.spec, after.spec);
}
