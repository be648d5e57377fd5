/** Sizes as the API wants them: `resources` with canonical quantities, by container, in the list each belongs to. */
import { formatQuantity, fromBytes, fromMillicores } from '../lib/quantity.ts';
import type { ContainerChange } from '../model/pod-size.ts';
import type { ContainerSize, ContainerSpecRecord } from '../model/sizing-records.ts';

export interface ResourcesBody {
  readonly requests?: Readonly<Record<string, string>>;
  readonly limits?: Readonly<Record<string, string>>;
}

interface ContainerBody {
  readonly name: string;
  readonly resources: ResourcesBody;
}

export interface ContainersBody {
  readonly containers?: readonly ContainerBody[];
  /** Native sidecars live among the init containers. */
  readonly initContainers?: readonly ContainerBody[];
}

/** Only the amounts that are set. Memory is never written with a fraction. */
export function resourcesBody({ cpuRequest, cpuLimit, memoryRequest, memoryLimit }: ContainerSize): ResourcesBody {
  const amounts = (
    cpu: number | undefined,
    memory: number | undefined,
  ): Readonly<Record<string, string>> | undefined =>
    cpu === undefined && memory === undefined
      ? undefined
      : {
          ...(cpu !== undefined && { cpu: formatQuantity(fromMillicores(cpu)) }),
          ...(memory !== undefined && { memory: formatQuantity(fromBytes(memory)) }),
        };
  const requests = amounts(cpuRequest, memoryRequest);
  const limits = amounts(cpuLimit, memoryLimit);
  return { ...(requests && { requests }), ...(limits && { limits }) };
}

/** The part of a pod spec that says `changes`; containers that are not there are left out. */
export function containersBody(
  containers: readonly ContainerSpecRecord[],
  changes: readonly ContainerChange[],
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
