/** Pods that are to make way for such of another size: which they are, and which of them may go, in turn. Pure. */
import { type DriftedPod, driftedPods, managedKeys } from '../../decide/rightsizing/pod-drift.ts';
import { touches } from '../../decide/rightsizing/side-by-side.ts';
import { isWithinMaximum } from '../../decide/rightsizing/within-maximum.ts';
import type { SizeChange } from '../../model/pod-size.ts';
import { otherResizer } from '../../model/size-managers.ts';
import type { ContainerSpecRecord } from '../../model/sizing-records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { type ApplyContext, appliedKeys, keysOfPod } from './apply.ts';

/**
 * Pods that differ from these sizes, those that serve nobody first, then the newest: it has the least to lose.
 * @param to what of the sizes is new: rightsizing has a say in it from now on.
 */
export function podsToReplace(
  context: ApplyContext,
  sizes: readonly ContainerSpecRecord[],
  isAllocated: (pod: SizedPod) => boolean,
  to: readonly SizeChange[] = [],
): readonly DriftedPod[] {
  const ours = managedKeys(to, appliedKeys(context));
  return context.live
    .flatMap((pod) => driftedPods([pod], sizes, keysOfPod(pod, sizes, ours, isAllocated(pod))))
    .toSorted((a, b) => Number(a.pod.pod.ready) - Number(b.pod.pod.ready) || b.pod.pod.createdAt - a.pod.pod.createdAt);
}

/**
 * Those whose replacements are given no more than the policy of now allows; what did harm is put back all the same.
 * What somebody else sizes is his: it comes last, for the guards to say so.
 */
export function thatMayGo(
  { advised: { workload }, policy: { spec }, memory }: ApplyContext,
  drifted: readonly DriftedPod[],
): readonly DriftedPod[] {
  return drifted
    .filter(
      (each) =>
        isWithinMaximum(each, workload.containers, spec.bounds) ||
        memory.watches.takenBack.some((part) => touches(each, part)),
    )
    .toSorted((a, b) => Number(isOthers(a)) - Number(isOthers(b)));
}

/** Somebody else sizes the pod. */
export function isOthers({ pod: { sizing } }: DriftedPod): boolean {
  return otherResizer(sizing) !== undefined;
}
