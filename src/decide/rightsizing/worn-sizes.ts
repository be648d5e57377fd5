/**
 * Which of the sizes that a workload says are in force its pods still have. While nothing is applied (another mode, a
 * dry run, a pause) new pods are born with the sizes of the template; once all are, what was in force is history.
 */
import type { readAppliedSizes } from '../../model/applied-sizes.ts';
import { isLive } from '../../model/owners.ts';
import { sizeKeys, sizeOfContainer, sizePaths } from '../../model/pod-size.ts';
import type { SizedPod } from '../../model/sizing-view.ts';

type Applied = ReturnType<typeof readAppliedSizes>;

/**
 * Those that some pod has; all of them where there is no pod that could tell.
 * @param isAllocated allocation shares out the pod's CPU: what it requests of that says nothing.
 */
export function wornSizes(
  applied: Applied,
  pods: readonly SizedPod[],
  isAllocated: (pod: SizedPod) => boolean,
): Applied {
  const live = pods.filter(({ pod }) => isLive(pod));
  if (live.length === 0) return applied;
  return applied.filter((each) => live.some((pod) => wears(pod, each, isAllocated(pod))));
}

function wears({ sizing }: SizedPod, { container, amounts }: Applied[number], isAllocated: boolean): boolean {
  const size = sizeOfContainer(sizing.containers, container);
  if (size === undefined) return false;
  return sizeKeys.every((key) => {
    const amount = amounts[key];
    return amount === undefined || (isAllocated && sizePaths[key].resource === 'cpu') || size[key] === amount[1];
  });
}
