/**
 * Gives replicas back what a decrease that did them harm took from them. It waits for nothing that the rest of a
 * workload waits for: no rollout, no window, no first pod of another change.
 */
import { driftedPods, everyKey } from '../../decide/rightsizing/pod-drift.ts';
import { onlyParts } from '../../decide/rightsizing/side-by-side.ts';
import { includesPart, loweredResources } from '../../decide/rightsizing/watched-change.ts';
import type { SizeChange } from '../../model/pod-size.ts';
import {
  harmedAt,
  type ReplicaState,
  type ReplicaStates,
  stateOfPod,
  withReplicaSizes,
} from '../../model/replica-sizes.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import type { SizeActuator } from './actuator.ts';
import { type ApplyContext, keysOfPod } from './apply.ts';
import { decisionFor } from './converge.ts';
import type { RightsizingParts } from './parts.ts';

export interface PutBackOptions extends Pick<RightsizingParts, 'isAllocated'> {
  readonly actuator: Pick<SizeActuator, 'resize' | 'isResizing'>;
}

/** @param states sizes of their own that are written on the workload. */
export async function putBackReplicas(
  context: ApplyContext,
  states: ReplicaStates,
  { actuator, isAllocated }: PutBackOptions,
): Promise<void> {
  const { workload, inForce } = context.advised;
  for (const pod of context.live) {
    const state = stateOfPod(states, workload, pod.pod);
    if (state === undefined || harmedAt(state) === undefined || actuator.isResizing(pod.pod.uid)) continue;
    const managed = keysOfPod(pod, inForce, everyKey(inForce), isAllocated(pod));
    const drifted = driftedPods([pod], withReplicaSizes(inForce, state), managed);
    const changes = drifted.flatMap((each) => givenBack(pod, each.changes, state));
    if (changes.length === 0) continue;
    const decision = decisionFor(context, pod, changes, 'a decrease is taken back', true);
    await actuator.resize(decision, context.policy.spec, context.signal);
  }
}

/** Of what the pod lacks, what was found to be too little before; nothing of it is less than the pod has. */
function givenBack(
  { sizing }: SizedPod,
  changes: readonly SizeChange[],
  { lessons }: ReplicaState,
): readonly SizeChange[] {
  return onlyParts(
    changes,
    (part) =>
      includesPart(lessons.floors, part) &&
      !changes.some(
        (change) =>
          change.container === part.container && loweredResources(change, sizing.containers).includes(part.resource),
      ),
  );
}
