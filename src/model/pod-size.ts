/** Arithmetic of container sizes: what a change makes of a pod, its QoS class, and what it holds on its node meanwhile. */
import type { ComputeResources } from './records.ts';
import type {
  ContainerSize,
  ContainerSpecRecord,
  ContainerStatusRecord,
  PodSizing,
  QosClass,
} from './sizing-records.ts';
import type { SizedPod } from './sizing-view.ts';

/** The new size of one container: only the keys that change, the others stay. A limit is never removed (KEP-1287 refuses it). */
export interface SizeChange {
  readonly container: string;
  readonly to: ContainerSize;
}

export const sizeKeys = ['cpuRequest', 'cpuLimit', 'memoryRequest', 'memoryLimit'] as const;
export type SizeKey = (typeof sizeKeys)[number];

/** Where `resources` of a container has each amount. */
export const sizePaths = {
  cpuRequest: { list: 'requests', resource: 'cpu' },
  cpuLimit: { list: 'limits', resource: 'cpu' },
  memoryRequest: { list: 'requests', resource: 'memory' },
  memoryLimit: { list: 'limits', resource: 'memory' },
} as const satisfies Readonly<Record<SizeKey, { list: 'requests' | 'limits'; resource: 'cpu' | 'memory' }>>;

export type SizedResource = (typeof sizePaths)[SizeKey]['resource'];

/** The resources of which changes name an amount. */
export function resourcesOf(changes: readonly SizeChange[]): ReadonlySet<SizedResource> {
  const named = changes.flatMap(({ to }) => sizeKeys.filter((key) => to[key] !== undefined));
  return new Set(named.map((key) => sizePaths[key].resource));
}

/** What changes say of these resources; a container of which they say nothing else is left out. */
export function changesOf(changes: readonly SizeChange[], resources: ReadonlySet<SizedResource>): SizeChange[] {
  return changes.flatMap(({ container, to }) => {
    const own: { -readonly [Key in SizeKey]?: number } = {};
    for (const key of sizeKeys) {
      const amount = resources.has(sizePaths[key].resource) ? to[key] : undefined;
      if (amount !== undefined) own[key] = amount;
    }
    return Object.keys(own).length === 0 ? [] : [{ container, to: own }];
  });
}

/** Undefined where there is no container of the name. */
export function sizeOfContainer(
  containers: readonly Pick<ContainerSpecRecord, 'name' | 'size'>[],
  name: string,
): ContainerSize | undefined {
  return containers.find((container) => container.name === name)?.size;
}

/**
 * A template may name a limit only; the API server makes it the request of its pods. Source: SetDefaults_Pod in
 * pkg/apis/core/v1/defaults.go.
 */
export function withDefaultRequests(size: ContainerSize): ContainerSize {
  const { cpuLimit, memoryLimit } = size;
  return {
    ...(cpuLimit !== undefined && { cpuRequest: cpuLimit }),
    ...(memoryLimit !== undefined && { memoryRequest: memoryLimit }),
    ...size,
  };
}

/** Source: pkg/apis/core/v1/helper/qos/qos.go, ComputePodQOS. Zero counts as not set. */
export function qosClassOf(sizes: readonly ContainerSize[]): QosClass {
  const isSet = (value: number | undefined): boolean => value !== undefined && value > 0;
  if (!sizes.some((size) => sizeKeys.some((key) => isSet(size[key])))) return 'BestEffort';
  const isGuaranteed = sizes.every(
    ({ cpuRequest, cpuLimit, memoryRequest, memoryLimit }) =>
      isSet(cpuLimit) &&
      isSet(memoryLimit) &&
      (cpuRequest ?? cpuLimit) === cpuLimit &&
      (memoryRequest ?? memoryLimit) === memoryLimit,
  );
  return isGuaranteed ? 'Guaranteed' : 'Burstable';
}

/** Of all containers together; what is not set counts as nothing. */
export function sumOf(containers: readonly Pick<ContainerSpecRecord, 'size'>[], key: SizeKey): number {
  return containers.reduce((sum, { size }) => sum + (size[key] ?? 0), 0);
}

/** The containers with `changes` made; changes of containers that are not there are left out. */
export function applyChanges(
  containers: readonly ContainerSpecRecord[],
  changes: readonly SizeChange[],
): readonly ContainerSpecRecord[] {
  return containers.map((container) => {
    const change = changes.find(({ container: name }) => name === container.name);
    return change === undefined ? container : { ...container, size: { ...container.size, ...change.to } };
  });
}

/** The changes that differ from what the containers have, with only the keys that differ; empty when nothing would change. */
export function effectiveChanges(
  containers: readonly ContainerSpecRecord[],
  changes: readonly SizeChange[],
): readonly SizeChange[] {
  return changes.flatMap(({ container: name, to }) => {
    const container = containers.find((each) => each.name === name);
    if (container === undefined) return [];
    const differing: Record<string, number> = {};
    for (const key of sizeKeys) {
      const value = to[key];
      if (value !== undefined && value !== container.size[key]) differing[key] = value;
    }
    return Object.keys(differing).length === 0 ? [] : [{ container: name, to: differing }];
  });
}

/**
 * What the pod takes of its node once `changes` are asked for: for each container the largest of what its spec will say,
 * what the kubelet has admitted and what is in force. So a decrease gives nothing back before it is done, and an increase
 * counts from the moment it is asked. Source: k8s.io/component-helpers/resource/helpers.go (UseStatusResources).
 */
export function heldRequests({ pod, sizing }: SizedPod, changes: readonly SizeChange[] = []): ComputeResources {
  const before = containersHeld(sizing, sizing.containers);
  const after = containersHeld(sizing, applyChanges(sizing.containers, changes), changes.length > 0);
  const { requests } = pod.template;
  return {
    // The record's own figure has init containers, pod-level requests and overhead in it.
    cpuMillis: requests.cpuMillis + Math.max(0, after.cpuMillis - before.cpuMillis),
    memoryBytes: requests.memoryBytes + Math.max(0, after.memoryBytes - before.memoryBytes),
  };
}

function containersHeld(
  sizing: PodSizing,
  containers: readonly ContainerSpecRecord[],
  isAsked = false,
): ComputeResources {
  const counts = { statuses: sizing.statuses, isInfeasible: !isAsked && hasInfeasibleResize(sizing) };
  let [cpuMillis, memoryBytes] = [0, 0];
  for (const container of containers) {
    cpuMillis += heldRequest('cpuRequest', container, counts);
    memoryBytes += heldRequest('memoryRequest', container, counts);
  }
  return { cpuMillis, memoryBytes };
}

/**
 * What a container takes of its node: the largest of what its spec says, what the kubelet has admitted and what is in
 * force. The wish of a resize that can never be granted does not count, where the kubelet says what the container has.
 * Source: k8s.io/component-helpers/resource/helpers.go up to 1.36 (determineEffectiveRequests). From 1.37 on the
 * scheduler compares the sums of all containers, which never come to more. Quotas count limits by the same rule.
 */
export function heldRequest(
  key: SizeKey,
  { name, size }: Pick<ContainerSpecRecord, 'name' | 'size'>,
  { statuses, isInfeasible }: { readonly statuses: readonly ContainerStatusRecord[]; readonly isInfeasible: boolean },
): number {
  const status = statuses.find((each) => each.name === name);
  const allocated = status?.allocated?.[key];
  const actual = status?.actual?.[key];
  const held = Math.max(allocated ?? 0, actual ?? 0);
  const isKnown = allocated !== undefined || actual !== undefined;
  return isInfeasible && isKnown ? held : Math.max(size[key] ?? 0, held);
}

export function hasInfeasibleResize({ resize }: Pick<PodSizing, 'resize'>): boolean {
  return resize.pending?.reason === 'Infeasible';
}

/** Whether some amount of `to` is above what `from` has. A key newly set counts as an increase of the request, never of a limit. */
export function isIncrease(from: ContainerSize, to: ContainerSize): boolean {
  return sizeKeys.some((key) => {
    const [before, after] = [from[key], to[key]];
    if (after === undefined) return false;
    return before === undefined ? sizePaths[key].list === 'requests' : after > before;
  });
}

/** Whether some container gets more memory, as a request or a limit. */
export function raisesMemory(
  before: readonly Pick<ContainerSpecRecord, 'name' | 'size'>[],
  after: readonly Pick<ContainerSpecRecord, 'name' | 'size'>[],
): boolean {
  return after.some(({ name, size }) => {
    const had = sizeOfContainer(before, name) ?? {};
    return (['memoryRequest', 'memoryLimit'] as const).some((key) => (size[key] ?? 0) > (had[key] ?? size[key] ?? 0));
  });
}
