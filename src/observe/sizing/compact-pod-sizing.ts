/**
 * The sizing part of a pod in a tenth of the memory of a plain record: replicas of one template differ in little but
 * the time they started. What they share is one interned value; statuses are put together when they are asked for.
 */

import { type PackedInstant, packInstant, unpackInstant } from '../../lib/packed-instant.ts';
import type { EpochMillis } from '../../lib/units.ts';
import type { ContainerStatusRecord, PodSizing } from '../../model/sizing-records.ts';

/** What pods of one template have in common. */
export type SharedSizing = Pick<
  PodSizing,
  | 'qos'
  | 'containers'
  | 'hasPodLevelResources'
  | 'isStatic'
  | 'os'
  | 'priority'
  | 'priorityClassName'
  | 'hasDeadline'
  | 'marks'
  | 'sizeManagers'
>;

/** Statuses without the times, which are each pod's own. */
export type StatusShape = Omit<ContainerStatusRecord, 'startedAt'>;

/** What pods of one template have in common while nothing happens to them. */
export interface CommonSizing extends Pick<PodSizing, 'resize' | 'generation' | 'observedGeneration'> {
  readonly shared: SharedSizing;
  readonly shapes: readonly StatusShape[];
}

/** All there is to a pod's sizing part; whoever keeps thousands keeps these, and makes the part when it is asked for. */
export interface SizingParts {
  readonly common: CommonSizing;
  /** One time for all containers where they agree. */
  readonly startedAt: PackedInstant | readonly PackedInstant[];
}

/**
 * A class for its prototype: the properties of {@link PodSizing} cost nothing per pod. A spread copies none of them:
 * see {@link plainSizing}.
 */
class CompactPodSizing implements PodSizing {
  readonly #common: CommonSizing;
  readonly #startedAt: SizingParts['startedAt'];

  constructor({ common, startedAt }: SizingParts) {
    this.#common = common;
    this.#startedAt = startedAt;
  }

  /** Undefined for a part that is not of this class. */
  static partsOf(sizing: PodSizing): SizingParts | undefined {
    return #common in sizing ? { common: sizing.#common, startedAt: sizing.#startedAt } : undefined;
  }

  get resize(): PodSizing['resize'] {
    return this.#common.resize;
  }
  get generation(): number {
    return this.#common.generation;
  }
  get observedGeneration(): number | undefined {
    return this.#common.observedGeneration;
  }
  get qos(): PodSizing['qos'] {
    return this.#common.shared.qos;
  }
  get containers(): PodSizing['containers'] {
    return this.#common.shared.containers;
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
    return this.#common.shapes.map((shape, index) => ({
      ...shape,
      startedAt: unpackInstant(typeof startedAt === 'object' ? startedAt[index] : startedAt),
    }));
  }
}

/** @param startedAt of each container that has a shape. */
export function compactPodSizing(common: CommonSizing, startedAt: readonly (EpochMillis | undefined)[]): PodSizing {
  const [first] = startedAt;
  const packed = startedAt.every((at) => at === first) ? packInstant(first) : startedAt.map(packInstant);
  return new CompactPodSizing({ common, startedAt: packed });
}

/** What to keep of a part that {@link compactPodSizing} made; undefined for any other. */
export const sizingParts = CompactPodSizing.partsOf;

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
