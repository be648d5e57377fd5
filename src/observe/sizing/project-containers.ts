/** Containers and native sidecars of a pod spec -> {@link ContainerSpecRecord}s, in the order the API has them. */
import type { Pod } from '../../api/core.ts';
import { InvalidValueError } from '../../lib/errors.ts';
import { qosClassOf, withDefaultRequests } from '../../model/pod-size.ts';
import type { ContainerSpecRecord } from '../../model/sizing-records.ts';
import { listOf, requireText } from '../fields.ts';
import { projectSize } from './project-size.ts';

type PodSpec = NonNullable<Pod['spec']>;
type ApiContainer = PodSpec['containers'][number];

/** Fields newer than the published types (KEP-1287, KEP-753). */
interface ResizableContainer {
  readonly resizePolicy?: readonly { readonly resourceName?: string; readonly restartPolicy?: string }[] | null;
  readonly restartPolicy?: string;
}

/** A node is full with a few hundred; an object has room for thousands. */
const MOST_CONTAINERS = 500;

/**
 * Run-once init containers are left out: their size has no effect once the pod runs.
 * @throws InvalidValueError when a field has an impossible value, or there are more containers than any pod has: they
 * are looked up by name, one by one, in every admission and decision.
 */
export function projectContainers(spec: Partial<PodSpec> | undefined): readonly ContainerSpecRecord[] {
  const sidecars = listOf<ApiContainer & ResizableContainer>(spec?.initContainers, 'spec.initContainers').filter(
    ({ restartPolicy }) => restartPolicy === 'Always',
  );
  const containers = listOf(spec?.containers, 'spec.containers');
  const count = containers.length + sidecars.length;
  if (count > MOST_CONTAINERS)
    throw new InvalidValueError('containers', `${count}`, `at most ${MOST_CONTAINERS} in one pod`);
  return [
    ...containers.map((container) => projectContainer(container, false)),
    ...sidecars.map((container) => projectContainer(container, true)),
  ];
}

/**
 * Whether a run-once init container, which has no record, keeps pods from being Guaranteed: all containers must be that
 * for it. Source: pkg/apis/core/v1/helper/qos/qos.go, ComputePodQOS.
 * @throws InvalidValueError when a field has an impossible value.
 */
export function isNeverGuaranteed(spec: Partial<PodSpec> | undefined): boolean {
  return runOnceContainers(spec).some(({ size }) => qosClassOf([size]) !== 'Guaranteed');
}

/** @throws InvalidValueError when a field has an impossible value. */
export function runOnceContainers(spec: Partial<PodSpec> | undefined): readonly ContainerSpecRecord[] {
  return listOf<ApiContainer & ResizableContainer>(spec?.initContainers, 'spec.initContainers')
    .filter(({ restartPolicy }) => restartPolicy !== 'Always')
    .map((container) => projectContainer(container, false));
}

function projectContainer(container: ApiContainer & ResizableContainer, isSidecar: boolean): ContainerSpecRecord {
  const name = requireText(container.name, 'container name');
  const policies = listOf(container.resizePolicy, `container ${name} resizePolicy`);
  const costOf = (resource: string): ContainerSpecRecord['cpuRestart'] =>
    policies.some(
      ({ resourceName, restartPolicy }) => resourceName === resource && restartPolicy === 'RestartContainer',
    )
      ? 'RestartContainer'
      : 'NotRequired';
  return {
    name,
    isSidecar,
    size: withDefaultRequests(projectSize(container.resources, `container ${name} resources`)),
    cpuRestart: costOf('cpu'),
    memoryRestart: costOf('memory'),
    hasReadinessProbe: container.readinessProbe !== undefined && container.readinessProbe !== null,
  };
}
