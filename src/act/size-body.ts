/** Sizes as the API wants them: `resources` with canonical quantities, by container, in the list each belongs to. */
import { type ResourcesBody, resourcesBody } from '../model/original-sizes.ts';
import type { SizeChange } from '../model/pod-size.ts';
import type { ContainerSpecRecord } from '../model/sizing-records.ts';

interface ContainerBody {
  readonly name: string;
  readonly resources: ResourcesBody;
}

export interface ContainersBody {
  readonly containers?: readonly ContainerBody[];
  /** Native sidecars live among the init containers. */
  readonly initContainers?: readonly ContainerBody[];
}

/**
 * The part of a pod spec that says `changes`, the same for `pods/resize`, server-side apply and strategic merge;
 * containers that are not there are left out.
 */
export function containersBody(
  containers: readonly ContainerSpecRecord[],
  changes: readonly SizeChange[],
): ContainersBody {
  const listOf = (isSidecar: boolean): readonly ContainerBody[] =>
    containers
      .filter((container) => container.isSidecar === isSidecar)
      .flatMap(({ name }) =>
        changes.filter(({ container }) => container === name).map(({ to }) => ({ name, resources: resourcesBody(to) })),
      );
  const [own, sidecars] = [listOf(false), listOf(true)];
  return { ...(own.length > 0 && { containers: own }), ...(sidecars.length > 0 && { initContainers: sidecars }) };
}
