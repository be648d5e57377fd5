/** How far the last resize of a pod has come, as its status tells. */
import type { Pod } from '../api/core.ts';
import { amountsOf } from '../cluster/pod-requests.ts';

/** Whether the kubelet has not seen, or not done, what the pod's spec asks for. */
export function isUnderWay(pod: Pod): boolean {
  const observed = observedGenerationOf(pod);
  if (observed !== undefined && (pod.metadata?.generation ?? 0) > observed) return true;
  // One that failed, or waits for room, may be taken back.
  return (pod.status?.conditions ?? []).some(
    ({ type, reason }) => type === 'PodResizeInProgress' && reason !== 'Error',
  );
}

/** Whether the pod asks for what it has been allocated: what nobody took up is taken back. */
export function isTakenBack({ spec, status }: Pod): boolean {
  return (spec?.containers ?? []).every(({ name, resources }) => {
    const allocated = amountsOf(status?.containerStatuses?.find((each) => each.name === name)?.allocatedResources);
    return [...amountsOf(resources?.requests)].every(([resource, amount]) => allocated.get(resource) === amount);
  });
}

/** What is under way, for people. */
export function underWayText(pod: Pod): string {
  const conditions = (pod.status?.conditions ?? []).filter(({ type }) => type.startsWith('PodResize'));
  const told = conditions.map(({ type, reason }) => `${type} ${reason ?? ''}`).join(', ');
  return `of generation ${pod.metadata?.generation} ${observedGenerationOf(pod)} is seen, ${told}`;
}

/** Newer than the types of our client. */
function observedGenerationOf({ status }: Pod): number | undefined {
  const value: unknown = Object.getOwnPropertyDescriptor(status ?? {}, 'observedGeneration')?.value;
  return typeof value === 'number' ? value : undefined;
}
