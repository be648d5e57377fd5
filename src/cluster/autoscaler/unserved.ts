/** Pods that wait for a machine. */
import type { Pod } from '../../api/core.ts';
import { controllerOf, findCondition } from '../objects.ts';
import { isTerminating } from '../pod-state.ts';

/** No node can take it, and a new one might. Pods of DaemonSets ask for no machine: they come with each. */
export function isUnserved(pod: Pod): boolean {
  const condition = findCondition(pod.status?.conditions, 'PodScheduled');
  return (
    !pod.spec?.nodeName &&
    !isTerminating(pod) &&
    condition?.status === 'False' &&
    condition.reason === 'Unschedulable' &&
    controllerOf(pod)?.kind !== 'DaemonSet'
  );
}
