/** What of pods and nodes the scheduler goes by: most changes are reports and heartbeats, and no news to it. Pure. */
import type { Node, Pod } from '../../api/core.ts';
import { findCondition, isSameValue } from '../objects.ts';
import { effectiveRequests } from '../pod-requests.ts';
import { isSameSpec, isTerminating } from '../pod-state.ts';

/** Whether a pod without a node waits for one from this scheduler. */
export function isToBePlaced({ spec }: Pod, schedulerName: string): boolean {
  return (spec?.schedulerName ?? schedulerName) === schedulerName && (spec?.schedulingGates ?? []).length === 0;
}

/** Whether nodes may take a waiting pod that they did not take before: its condition says nothing of that. */
export function isOtherToPlace(before: Pod, after: Pod): boolean {
  return !isSameSpec(before, after) || !isSameValue(before.metadata?.labels, after.metadata?.labels);
}

/** Whether a pod counts otherwise on its node: requests, labels, leaving. */
export function isOtherOnNode(before: Pod, after: Pod): boolean {
  return (
    isOtherToPlace(before, after) ||
    isTerminating(before) !== isTerminating(after) ||
    !isSameValue(heldResources(before), heldResources(after))
  );
}

/** Whether a pod holds less of something than before: it was resized, and what waits may fit now (KEP-1287). */
export function isLighterOnNode(before: Pod, after: Pod): boolean {
  const now = effectiveRequests(after);
  return [...effectiveRequests(before)].some(([name, amount]) => amount > (now.get(name) ?? 0));
}

/** All of the status that a pod's requests are counted from, see {@link podInfoOf}. */
function heldResources({ status }: Pod): unknown {
  const containers = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  const pending = findCondition(status?.conditions, 'PodResizePending')?.reason;
  return [
    pending,
    containers.map(({ allocatedResources, resources: actual }) => [allocatedResources, actual?.requests]),
  ];
}

/** Whether a node may take pods that it did not take before, or the other way round. */
export function isOtherOffer(before: Node, after: Node): boolean {
  return offerOf(before) !== offerOf(after);
}

function offerOf({ spec, status, metadata }: Node): string {
  return JSON.stringify([
    metadata?.labels,
    spec?.taints,
    spec?.unschedulable,
    status?.allocatable,
    metadata?.deletionTimestamp,
  ]);
}
