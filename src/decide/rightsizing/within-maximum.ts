/** What a pod may be given of the sizes in force: they may be of a policy that has since been changed, or selects the workload no more. */
import { sizeOfContainer } from '../../model/pod-size.ts';
import type { PolicySpec } from '../../model/policy-spec.ts';
import type { ContainerSpecRecord } from '../../model/sizing-records.ts';
import type { DriftedPod } from './pod-drift.ts';
import { onlyParts, partsOf } from './side-by-side.ts';

const requestKeys = { cpu: 'cpuRequest', memory: 'memoryRequest' } as const;

/**
 * Without the parts that would raise a request above the policy's maximum; empty where nothing is left. What falls may
 * stay above it for a while.
 * @param template what people wrote there they mean.
 */
export function withinMaximum(
  { pod, changes }: DriftedPod,
  template: readonly ContainerSpecRecord[],
  bounds: PolicySpec['bounds'],
): readonly DriftedPod[] {
  const allowed = onlyParts(changes, ({ container, resource }) => {
    const key = requestKeys[resource];
    const wanted = changes.find((change) => change.container === container)?.to[key] ?? 0;
    const had = sizeOfContainer(pod.sizing.containers, container)?.[key] ?? 0;
    return wanted <= Math.max(had, bounds[resource].max) || wanted === sizeOfContainer(template, container)?.[key];
  });
  return allowed.length === 0 ? [] : [{ pod, changes: allowed }];
}

/** Whether all of it may be given: a new pod has everything that is in force, not one part without the other. */
export function isWithinMaximum(
  drifted: DriftedPod,
  template: readonly ContainerSpecRecord[],
  bounds: PolicySpec['bounds'],
): boolean {
  const allowed = withinMaximum(drifted, template, bounds).flatMap(({ changes }) => partsOf(changes));
  return allowed.length === partsOf(drifted.changes).length;
}
