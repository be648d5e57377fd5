/**
 * Corrects slots that are written wrong on pods that stand right: a change of annotations, never of a pod. Stamps go
 * wrong when percentage or floor change, and when a ReplicaSet removes unready pods before those of the highest slots;
 * the deletion cost must be right before the next scale-down, not after it (hazard H3; kubernetes#107598).
 */

import { isLive, type RevisionPods } from '../../model/owners.ts';
import { workloadRef } from '../../model/refs.ts';
import type { RestampDecision } from '../decision.ts';
import type { PlanInput, PlannedPod } from './plan.ts';

/**
 * Only where every pod is there and on a right side, so that only the numbering is wrong. A StatefulSet's slots follow
 * from its ordinals, so its stamps decide nothing.
 */
export function decideRestamps(
  { workload }: PlanInput,
  revisions: readonly RevisionPods[],
  pods: readonly PlannedPod[],
): RestampDecision[] {
  const live = pods.filter(({ pod }) => isLive(pod));
  const isAtRest =
    workload.rollout.type !== 'StatefulSet' &&
    live.length === workload.replicas &&
    live.every(({ plan }) => plan.state === 'settled') &&
    revisions.filter((revision) => revision.pods.some(isLive)).length <= 1;
  if (!isAtRest) return [];
  return live.flatMap(({ pod, plan }) => {
    const { slot, actualSide: side } = plan;
    if (slot === undefined || side === 'unknown' || (slot === pod.slot && side === pod.capacity && !pod.fallback))
      return [];
    // Anything but our own earlier value, or none, is the user's.
    const isOurCost = pod.deletionCost === 0 || pod.deletionCost === -(pod.slot ?? 0);
    return [
      {
        kind: 'restamp',
        engine: 'placement',
        workload: workloadRef(workload),
        workloadUid: workload.uid,
        pod: plan.ref,
        resourceVersion: pod.resourceVersion,
        slot,
        capacity: side,
        deletionCost: isOurCost ? -slot : undefined,
        why: {
          summary: `runs on ${side} as slot ${slot}; its stamp says ${pod.slot ?? 'nothing'}`,
          numbers: { slot, stampedSlot: pod.slot ?? 0 },
        },
      },
    ];
  });
}
