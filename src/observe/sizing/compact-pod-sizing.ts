/**
 * The sizing part of a pod in a tenth of the memory of a plain record: replicas of one template differ in little but the time they
 * started. What they share is one interned value; statuses are put together when they are asked for.
 */
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
  | 'marks'
  | 'sizeManagers'
>;

/** Statuses without the times, which are each pod's own. */
export type StatusShape = Omit<ContainerStatusRecord, 'startedAt'>;

export interface CompactParts {
  readonly shared: SharedSizing;
  readonly shapes: readonly StatusShape[];
  readonly startedAt: readonly (EpochMillis | undefined)[];
  readonly resize: PodSizing['resize'];
  readonly generation: number;
  readonly observedGeneration: number | undefined;
}

/** A class for its prototype: the properties of {@link PodSizing} cost nothing per pod. A spread copies none of them: see {@link plainSizing}. */
class CompactPodSizing implements PodSizing {
  readonly resize: PodSizing['resize'];
  readonly generation: number;
  readonly observedGeneration: number | undefined;
  readonly #shared: SharedSizing;
  readonly #shapes: readonly StatusShape[];
  /** One time for all containers where they agree. */
  readonly #startedAt: EpochMillis | undefined | readonly (EpochMillis | undefined)[];

  constructor({ shared, shapes, startedAt, resize, generation, observedGeneration }: CompactParts) {
    const [first] = startedAt;
    this.resize = resize;
    this.generation = generation;
    this.observedGeneration = observedGeneration;
    this.#shared = shared;
    this.#shapes = shapes;
    this.#startedAt = startedAt.every((at) => at === first) ? first : startedAt;
  }

  get qos(): PodSizing['qos'] {
    return this.#shared.qos;
  }
  get containers(): PodSizing['containers'] {
    return this.#shared.containers;
  }
  get hasPodLevelResources(): boolean {
    return this.#shared.hasPodLevelResources;
  }
  get isStatic(): boolean {
    return this.#shared.isStatic;
  }
  get os(): PodSizing['os'] {
    return this.#shared.os;
  }
  get priority(): number {
    return this.#shared.priority;
  }
  get priorityClassName(): string {
    return this.#shared.priorityClassName;
  }
  get marks(): PodSizing['marks'] {
    return this.#shared.marks;
  }
  get sizeManagers(): PodSizing['sizeManagers'] {
    return this.#shared.sizeManagers;
  }
  get statuses(): PodSizing['statuses'] {
    const startedAt = this.#startedAt;
    return this.#shapes.map((shape, index) => ({
      ...shape,
      startedAt: typeof startedAt === 'object' ? startedAt[index] : startedAt,
    }));
  }
}

export function compactPodSizing(parts: CompactParts): PodSizing {
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
    resize: sizing.resize,
    generation: sizing.generation,
    observedGeneration: sizing.observedGeneration,
    marks: sizing.marks,
    sizeManagers: sizing.sizeManagers,
  };
}
