/** The order in which a ReplicaSet gives up pods when it scales down. */
import type { Pod } from '../../api/core.ts';
import { ascending } from '../../lib/ascending.ts';
import { timeOf, uidOf } from '../objects.ts';
import { isActive, isReady, maxRestarts, readySince } from '../pod-state.ts';

const PHASE_ORDER: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

const NANOS_PER_MILLI = 1e6;

/**
 * The `count` pods to delete first, in deletion order.
 *
 * @param active the ReplicaSet's active pods.
 * @param related pods of every ReplicaSet with the same owner, this one included: pods that share a node with many of
 *   them go first, which keeps replicas spread during a rollout.
 * Source: pkg/controller/controller_utils.go, `ActivePodsWithRanks`, LogarithmicScaleDown on.
 */
export function choosePodsToDelete(
  active: readonly Pod[],
  related: Iterable<Pod>,
  count: number,
  nowMillis: number,
): Pod[] {
  if (count >= active.length) return [...active];
  const activeOnNode = new Map<string, number>();
  for (const pod of related) {
    const node = pod.spec?.nodeName;
    if (node !== undefined && isActive(pod)) activeOnNode.set(node, (activeOnNode.get(node) ?? 0) + 1);
  }
  const rankOf = (pod: Pod): number => activeOnNode.get(pod.spec?.nodeName ?? '') ?? 0;
  return [...active].sort((left, right) => compareForDeletion(left, right, rankOf, nowMillis)).slice(0, count);
}

function compareForDeletion(left: Pod, right: Pod, rankOf: (pod: Pod) => number, nowMillis: number): number {
  return (
    Number(isAssigned(left)) - Number(isAssigned(right)) ||
    phaseOrder(left) - phaseOrder(right) ||
    Number(isReady(left)) - Number(isReady(right)) ||
    deletionCost(left) - deletionCost(right) ||
    rankOf(right) - rankOf(left) ||
    compareAge(left, right, readySince(left), readySince(right), nowMillis) ||
    maxRestarts(right) - maxRestarts(left) ||
    compareAge(left, right, createdAt(left), createdAt(right), nowMillis)
  );
}

function isAssigned(pod: Pod): boolean {
  return (pod.spec?.nodeName ?? '') !== '';
}

function phaseOrder(pod: Pod): number {
  return PHASE_ORDER[pod.status?.phase ?? 'Pending'] ?? 0;
}

/** `controller.kubernetes.io/pod-deletion-cost`; 0 when absent or not a 32-bit integer. */
function deletionCost(pod: Pod): number {
  const text = pod.metadata?.annotations?.['controller.kubernetes.io/pod-deletion-cost'];
  if (text === undefined || !/^(0|-?[1-9]\d{0,9})$/.test(text)) return 0;
  const cost = Number(text);
  return cost === (cost | 0) ? cost : 0;
}

function createdAt(pod: Pod): number | undefined {
  return timeOf(pod.metadata?.creationTimestamp);
}

/**
 * Younger first, but only by powers of two of the age: pods in the same bucket are ordered by uid, so that scaling down
 * picks effectively random pods among those of similar age (KEP-2185).
 */
function compareAge(
  left: Pod,
  right: Pod,
  leftMillis: number | undefined,
  rightMillis: number | undefined,
  nowMillis: number,
): number {
  if (leftMillis === rightMillis || leftMillis === undefined || rightMillis === undefined) return 0;
  const difference = ageBucket(nowMillis - leftMillis) - ageBucket(nowMillis - rightMillis);
  if (difference !== 0) return difference;
  return ascending(uidOf(left), uidOf(right));
}

function ageBucket(ageMillis: number): number {
  return ageMillis > 0 ? Math.trunc(Math.log2(ageMillis * NANOS_PER_MILLI)) : -1;
}
