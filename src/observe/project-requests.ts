/** What a pod costs a node: its effective requests, counted as the scheduler counts them. */
import type { Pod } from '../api/core.ts';
import type { ComputeResources } from '../model/records.ts';
import { cpu, listOf, memory } from './fields.ts';

type PodSpec = NonNullable<Pod['spec']>;
type PodStatus = NonNullable<Pod['status']>;
type Container = PodSpec['containers'][number];
type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];

/** Resource fields newer than the published types (KEP-1287 in-place resize, KEP-2837 pod-level resources). */
interface ResourceList {
  readonly requests?: Readonly<Record<string, unknown>>;
  readonly limits?: Readonly<Record<string, unknown>>;
}
interface ResizableStatus {
  readonly allocatedResources?: Readonly<Record<string, unknown>>;
  readonly resources?: ResourceList;
}

interface Amounts {
  readonly cpu: number;
  readonly memory: number;
}

const larger = (a: Amounts, b: Amounts): Amounts => ({
  cpu: Math.max(a.cpu, b.cpu),
  memory: Math.max(a.memory, b.memory),
});

/** What an init container asks for; a sidecar stays beside all that comes after it. */
interface Step<T> {
  readonly asks: T;
  readonly stays: boolean;
}

/**
 * The sum over containers and sidecars, or what the largest init step needs beside the sidecars started before it,
 * whichever is more.
 */
function mostAtOnce<T>(containers: readonly T[], steps: readonly Step<T>[], amountOf: (asks: T) => number): number {
  const running = containers.reduce((total, asks) => total + amountOf(asks), 0);
  let [sidecars, init] = [0, 0];
  for (const { asks, stays } of steps) {
    const beside = sidecars + amountOf(asks);
    init = Math.max(init, beside);
    if (stays) sidecars = beside;
  }
  return Math.max(running + sidecars, init);
}

/**
 * What the containers need at once, see {@link mostAtOnce}; pod-level requests replace that; the overhead of the runtime
 * class comes on top.
 * Source: k8s.io/component-helpers/resource/helpers.go (PodRequests).
 * @param status given for a pod that exists: while a resize is under way the larger of wished and actual counts.
 * @throws InvalidValueError when an amount is not a quantity.
 */
export function effectiveRequests(spec: PodSpec, status?: PodStatus): ComputeResources {
  const isInfeasible = hasInfeasibleResize(status);
  const actual = new Map<string, ContainerStatus>();
  for (const entry of [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])])
    actual.set(entry.name, entry);
  const of = (container: Container): Amounts => containerRequests(container, actual.get(container.name), isInfeasible);
  const containers = listOf(spec.containers, 'spec.containers').map(of);
  const steps = stepsOf(spec, of);
  const podLevel = read(podResources(spec), 'spec.resources');
  const overhead = amounts(spec.overhead, 'spec.overhead');
  return {
    cpuMillis: (podLevel.cpu ?? mostAtOnce(containers, steps, (asks) => asks.cpu)) + (overhead.cpu ?? 0),
    memoryBytes: (podLevel.memory ?? mostAtOnce(containers, steps, (asks) => asks.memory)) + (overhead.memory ?? 0),
  };
}

/**
 * What the pod requests besides CPU and memory, by name, counted in the same way: devices, local storage, huge pages.
 * Undefined where it asks for nothing of the kind, as most do.
 * @throws InvalidValueError when an amount is not a quantity.
 */
export function extraRequests(spec: PodSpec): Readonly<Record<string, number>> | undefined {
  const containers = listOf(spec.containers, 'spec.containers');
  const steps = stepsOf(spec, (container) => container);
  const names = new Set<string>();
  for (const { resources } of [...containers, ...steps.map(({ asks }) => asks)])
    for (const list of [resources?.requests, resources?.limits])
      for (const name of Object.keys(list ?? {})) if (name !== 'cpu' && name !== 'memory') names.add(name);
  const wanted = [...names].toSorted().flatMap((name) => {
    const overhead = memory(spec.overhead?.[name], `spec.overhead.${name}`) ?? 0;
    const amount = mostAtOnce(containers, steps, (container) => extraRequest(name, container)) + overhead;
    return amount > 0 ? [[name, amount] as const] : [];
  });
  return wanted.length === 0 ? undefined : Object.fromEntries(wanted);
}

function extraRequest(resource: string, { name, resources }: Container): number {
  const amount = resources?.requests?.[resource] ?? resources?.limits?.[resource];
  return memory(amount, `container ${name} resources.${resource}`) ?? 0;
}

/**
 * Whichever is the most of wished, allocated and actual: the node may still have to give the first, and has given the
 * others.
 */
function containerRequests(
  container: Container,
  status: (ContainerStatus & ResizableStatus) | undefined,
  isInfeasible: boolean,
): Amounts {
  const field = `container ${container.name} resources`;
  const wished = filled(read(container.resources, field));
  if (status === undefined) return wished;
  const allocated = filled(amounts(status.allocatedResources, `${field} allocated`));
  const actual = larger(allocated, filled(amounts(status.resources?.requests, `${field} in status`)));
  // A resize that can never be granted leaves the pod at its actual size.
  return isInfeasible && (actual.cpu > 0 || actual.memory > 0) ? actual : larger(wished, actual);
}

/** Requests, with a limit standing in where only a limit is given, as the API server defaults it. */
function read(resources: ResourceList | undefined | null, field: string): Partial<Amounts> {
  const requests = amounts(resources?.requests, `${field}.requests`);
  const limits = amounts(resources?.limits, `${field}.limits`);
  return { ...limits, ...requests };
}

/** Only CPU and memory, which can be resized. */
function amounts(list: Readonly<Record<string, unknown>> | undefined | null, field: string): Partial<Amounts> {
  const cpuMillis = cpu(list?.cpu, `${field}.cpu`);
  const memoryBytes = memory(list?.memory, `${field}.memory`);
  return {
    ...(cpuMillis === undefined ? {} : { cpu: cpuMillis }),
    ...(memoryBytes === undefined ? {} : { memory: memoryBytes }),
  };
}

const filled = (partial: Partial<Amounts>): Amounts => ({ cpu: partial.cpu ?? 0, memory: partial.memory ?? 0 });

function stepsOf<T>(spec: PodSpec, asksOf: (container: Container) => T): readonly Step<T>[] {
  return listOf(spec.initContainers, 'spec.initContainers').map((container) => ({
    asks: asksOf(container),
    stays: isSidecar(container),
  }));
}

function isSidecar(container: Container): boolean {
  return 'restartPolicy' in container && container.restartPolicy === 'Always';
}

function podResources(spec: PodSpec): ResourceList | undefined {
  const { resources } = spec as PodSpec & { readonly resources?: ResourceList };
  return resources;
}

/** The node can never grant it, so scheduler and quota do not charge it either (KEP-1287). */
function hasInfeasibleResize(status: PodStatus | undefined): boolean {
  return (status?.conditions ?? []).some(
    (condition) => condition.type === 'PodResizePending' && condition.reason === 'Infeasible',
  );
}
