/**
 * The sizing part of a pod in a tenth of the memory of a plain record: replicas of one template differ in little but
 * their sizes and the time they started. What they share is one interned value; containers and statuses are put together
 * when they are asked for.
 */

import { type PackedInstant, packInstant, unpackInstant } from '../../lib/packed-instant.ts';
import type { EpochMillis } from '../../lib/units.ts';
import type {
  ContainerSize,
  ContainerSpecRecord,
  ContainerStatusRecord,
  PodSizing,
} from '../../model/sizing-records.ts';
import { type OwnCpu, withOwnCpu } from './own-cpu.ts';

/** A container without its size, which may be the pod's own. */
export type ContainerShape = Omit<ContainerSpecRecord, 'size'>;

/** What pods of one template have in common, whatever sizes they were given. */
export interface SharedSizing
  extends Pick<
    PodSizing,
    | 'qos'
    | 'hasPodLevelResources'
    | 'isStatic'
    | 'os'
    | 'priority'
    | 'priorityClassName'
    | 'hasDeadline'
    | 'marks'
    | 'sizeManagers'
  > {
  readonly containers: readonly ContainerShape[];
}

/** What is in force, or allocated, is what the spec asks for. */
const AS_SPEC = 'as in the spec';

/** Statuses without times and sizes, which are each pod's own; a size that is not the one of the spec is here. */
export interface StatusShape extends Omit<ContainerStatusRecord, 'startedAt' | 'actual' | 'allocated'> {
  readonly actual: ContainerSize | typeof AS_SPEC | undefined;
  readonly allocated: ContainerSize | typeof AS_SPEC | undefined;
}

/** What pods of one template have in common while nothing happens to them. */
export interface CommonSizing extends Pick<PodSizing, 'resize'> {
  readonly shared: SharedSizing;
  readonly shapes: readonly StatusShape[];
  /** Generations that the kubelet has not seen yet; undefined where it does not say. */
  readonly unobserved: number | undefined;
  /** Of the spec, in the order of the containers; a pod may have CPU of its own. */
  readonly sizes: readonly ContainerSize[];
}

/** All there is to a pod's sizing part; whoever keeps thousands keeps these, and makes the part when it is asked for. */
export interface SizingParts {
  readonly common: CommonSizing;
  /** One time for all containers where they agree. */
  readonly startedAt: PackedInstant | readonly PackedInstant[];
  /** Undefined where it has what the others have. */
  readonly ownCpu: OwnCpu | undefined;
  readonly generation: number;
}

const noSize: ContainerSize = {};

/**
 * A class for its prototype: the properties of {@link PodSizing} cost nothing per pod. A spread copies none of them:
 * see {@link plainSizing}.
 */
class CompactPodSizing implements PodSizing {
  readonly generation: number;
  readonly #common: CommonSizing;
  readonly #startedAt: SizingParts['startedAt'];
  readonly #ownCpu: OwnCpu | undefined;

  constructor({ common, startedAt, ownCpu, generation }: SizingParts) {
    this.generation = generation;
    this.#common = common;
    this.#startedAt = startedAt;
    this.#ownCpu = ownCpu;
  }

  /** Undefined for a part that is not of this class. */
  static partsOf(sizing: PodSizing): SizingParts | undefined {
    if (!(#common in sizing)) return undefined;
    const { generation } = sizing;
    return { common: sizing.#common, startedAt: sizing.#startedAt, ownCpu: sizing.#ownCpu, generation };
  }

  static hasTerminations(sizing: PodSizing): boolean {
    const told = #common in sizing ? sizing.#common.shapes : sizing.statuses;
    return told.some(({ lastTermination }) => lastTermination !== undefined);
  }

  get resize(): PodSizing['resize'] {
    return this.#common.resize;
  }
  get observedGeneration(): number | undefined {
    const { unobserved } = this.#common;
    return unobserved === undefined ? undefined : this.generation - unobserved;
  }
  get qos(): PodSizing['qos'] {
    return this.#common.shared.qos;
  }
  get containers(): PodSizing['containers'] {
    const sizes = this.#sizes();
    return this.#common.shared.containers.map(
      ({ name, isSidecar, cpuRestart, memoryRestart, hasReadinessProbe }, index) => ({
        name,
        isSidecar,
        size: sizes[index] ?? noSize,
        cpuRestart,
        memoryRestart,
        hasReadinessProbe,
      }),
    );
  }
  get hasPodLevelResources(): boolean {
    return this.#common.shared.hasPodLevelResources;
  }
  get isStatic(): boolean {
    return this.#common.shared.isStatic;
  }
  get os(): PodSizing['os'] {
    return this.#common.shared.os;
  }
  get priority(): number {
    return this.#common.shared.priority;
  }
  get priorityClassName(): string {
    return this.#common.shared.priorityClassName;
  }
  get hasDeadline(): PodSizing['hasDeadline'] {
    return this.#common.shared.hasDeadline;
  }
  get marks(): PodSizing['marks'] {
    return this.#common.shared.marks;
  }
  get sizeManagers(): PodSizing['sizeManagers'] {
    return this.#common.shared.sizeManagers;
  }
  get statuses(): PodSizing['statuses'] {
    const startedAt = this.#startedAt;
    const sizes = this.#sizes();
    return this.#common.shapes.map((shape, index) => {
      const { name, actual, allocated } = shape;
      const size = sizeOf(name, this.#common.shared, sizes);
      return {
        ...shape,
        startedAt: startOf({ startedAt }, index),
        actual: actual === AS_SPEC ? size : actual,
        allocated: allocated === AS_SPEC ? requestsOf(size) : allocated,
      };
    });
  }
  #sizes(): readonly ContainerSize[] {
    const { sizes } = this.#common;
    return this.#ownCpu === undefined ? sizes : withOwnCpu(sizes, this.#ownCpu);
  }
}

/** What is to be kept of a pod, as it is told. */
export interface ToldSizing extends Pick<CommonSizing, 'shared' | 'resize' | 'sizes'>, Pick<SizingParts, 'generation'> {
  readonly statuses: readonly ContainerStatusRecord[];
  readonly observedGeneration: number | undefined;
}

/** Makes one of what many have in common. */
export interface SizingSharing {
  /** @returns what is kept once for all of them, and what this one has of its own. */
  common(value: CommonSizing): Pick<SizingParts, 'common' | 'ownCpu'>;
}

export function compactPodSizing(told: ToldSizing, sharing: SizingSharing): PodSizing {
  const { shared, statuses, resize, sizes, generation, observedGeneration } = told;
  const parts = sharing.common({
    shared,
    shapes: statuses.map(({ startedAt: _startedAt, ...status }) => shapeOf(status, sizeOf(status.name, shared, sizes))),
    resize,
    unobserved: observedGeneration === undefined ? undefined : generation - observedGeneration,
    sizes,
  });
  return startedSizing(
    { ...parts, generation },
    statuses.map(({ startedAt }) => startedAt),
  );
}

/** @param startedAt of each container that has a shape. */
export function startedSizing(
  parts: Omit<SizingParts, 'startedAt'>,
  startedAt: readonly (EpochMillis | undefined)[],
): PodSizing {
  const [first, ...others] = startedAt;
  const isOne = others.every((at) => at === first);
  return new CompactPodSizing({ ...parts, startedAt: isOne ? packInstant(first) : startedAt.map(packInstant) });
}

function sizeOf(name: string, { containers }: SharedSizing, sizes: readonly ContainerSize[]): ContainerSize {
  return sizes[containers.findIndex((container) => container.name === name)] ?? noSize;
}

function shapeOf(status: Omit<ContainerStatusRecord, 'startedAt'>, spec: ContainerSize): StatusShape {
  const { actual, allocated } = status;
  return {
    ...status,
    actual: actual && isSameSize(actual, spec) ? AS_SPEC : actual,
    allocated: allocated && isSameSize(allocated, requestsOf(spec)) ? AS_SPEC : allocated,
  };
}

/** What is allocated are requests. */
function requestsOf({ cpuRequest, memoryRequest }: ContainerSize): ContainerSize {
  return {
    ...(cpuRequest !== undefined && { cpuRequest }),
    ...(memoryRequest !== undefined && { memoryRequest }),
  };
}

function isSameSize(one: ContainerSize, other: ContainerSize): boolean {
  return (
    one.cpuRequest === other.cpuRequest &&
    one.cpuLimit === other.cpuLimit &&
    one.memoryRequest === other.memoryRequest &&
    one.memoryLimit === other.memoryLimit
  );
}

/** Whether lists of sizes are equal, container by container. */
export function areSameSizes(one: readonly ContainerSize[], other: readonly ContainerSize[]): boolean {
  return one.length === other.length && one.every((size, index) => isSameSize(size, other[index] ?? noSize));
}

/** Of the container whose shape is at this place; undefined where there is none. */
export function startOf({ startedAt }: Pick<SizingParts, 'startedAt'>, index: number): EpochMillis | undefined {
  return unpackInstant(typeof startedAt === 'object' ? startedAt[index] : startedAt);
}

/** What to keep of a part that {@link compactPodSizing} made; undefined for any other. */
export const sizingParts = CompactPodSizing.partsOf;

/** Whether some container has ended before. Of a part that {@link compactPodSizing} made nothing is put together for it. */
export const hasTerminations = CompactPodSizing.hasTerminations;

export function sizingOfParts(parts: SizingParts): PodSizing {
  return new CompactPodSizing(parts);
}

/** The same as a plain record, for whoever decides on it: views hand out these. */
export function plainSizing(sizing: PodSizing): PodSizing {
  return {
    qos: sizing.qos,
    containers: sizing.containers,
    statuses: sizing.statuses,
    hasPodLevelResources: sizing.hasPodLevelResources,
    isStatic: sizing.isStatic,
    os: sizing.os,
    priority: sizing.priority,
    priorityClassName: sizing.priorityClassName,
    hasDeadline: sizing.hasDeadline,
    resize: sizing.resize,
    generation: sizing.generation,
    observedGeneration: sizing.observedGeneration,
    marks: sizing.marks,
    sizeManagers: sizing.sizeManagers,
  };
}
