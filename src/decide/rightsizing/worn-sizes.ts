/**
 * Which of the sizes that a workload says are in force its pods still have. While nothing is applied (another mode, a
 * dry run, a pause) new pods are born with the sizes of the template; once all are, what was in force is history.
 */
import type { readAppliedSizes } from '../../model/applied-sizes.ts';
import { isLive } from '../../model/owners.ts';
import { sizeKeys, sizeOfContainer, sizePaths } from '../../model/pod-size.ts';
import type { SizesByContainer } from '../../model/replica-sizes.ts';
import type { ContainerSpecRecord } from '../../model/sizing-records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { isRather } from './rather-size.ts';

type Applied = ReturnType<typeof readAppliedSizes>;

/**
 * Those that some pod rather has than what was before; all of them where there is no pod that could tell.
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
    if (amount === undefined || (isAllocated && sizePaths[key].resource === 'cpu')) return true;
    const [before, applied] = amount;
    return isRather(size[key], applied, before);
  });
}

/** Whether the pod rather has these sizes than those of the template. */
export function wearsSizes(
  { sizing }: SizedPod,
  sizes: SizesByContainer,
  template: readonly ContainerSpecRecord[],
  isAllocated: boolean,
): boolean {
  return template.every(({ name, size: before }) => {
    const [size, wanted] = [sizeOfContainer(sizing.containers, name), sizes.get(name)];
    if (size === undefined || wanted === undefined) return false;
    return sizeKeys.every((key) => {
      const amount = wanted[key];
      if (amount === undefined || amount === before[key]) return true;
      return (isAllocated && sizePaths[key].resource === 'cpu') || isRather(size[key], amount, before[key]);
    });
  });
}
