/** What the sizing parts of many records share, kept once. */
import type { Labels } from '../../model/records.ts';
import type { ContainerSize, ContainerSpecRecord, ResizeState } from '../../model/sizing-records.ts';
import { createInterner, type Interner } from '../intern.ts';
import {
  areSameSizes,
  type CommonSizing,
  type SharedSizing,
  type SizingSharing,
  type StatusShape,
} from './compact-pod-sizing.ts';
import { ownCpuOf } from './own-cpu.ts';

/** The live stores have one set, the stores of sizing another: they share nothing, and nothing breaks for it. */
export interface SizingInterners extends SizingSharing {
  /** Of workloads. */
  readonly containers: Interner<readonly ContainerSpecRecord[]>;
  readonly marks: Interner<Labels>;
  readonly templateManagers: Interner<Readonly<Record<string, readonly string[]>>>;
}

/** Where each pod has its own, there are as many as pods: keeping track of them would cost more than is shared. */
const MAX_SIZES = 500;

/** Beyond this many live values of a kind equal ones are merely no longer shared. */
export function createSizingInterners(maxEntries: number): SizingInterners {
  const sizes = createInterner<ContainerSize>(Math.min(maxEntries, MAX_SIZES));
  const marks = createInterner<Labels>(maxEntries);
  const managers = createInterner<readonly string[]>(maxEntries);
  const shapesOfContainers = createInterner<SharedSizing['containers']>(maxEntries);
  const shared = createInterner<SharedSizing>(maxEntries, (value) => ({
    ...value,
    containers: shapesOfContainers.intern(value.containers),
    marks: marks.intern(value.marks),
    sizeManagers: managers.intern(value.sizeManagers),
  }));
  const shapes = createInterner<readonly StatusShape[]>(maxEntries);
  const resizes = createInterner<ResizeState>(maxEntries);
  const common = createInterner<CommonSizing>(maxEntries, (value) => ({
    ...value,
    shapes: shapes.intern(value.shapes),
    resize: resizes.intern(value.resize),
  }));
  /** What replicas had last, by what they have in common. */
  const sizesOf = new WeakMap<SharedSizing, readonly ContainerSize[]>();
  return {
    common(value) {
      const kept = shared.intern(value.shared);
      const known = sizesOf.get(kept);
      const isSame = known !== undefined && areSameSizes(value.sizes, known);
      const ownCpu = isSame ? undefined : known && ownCpuOf(value.sizes, known);
      // Of another revision, or with memory of its own: what comes next may be more like this one.
      const isAlike = known !== undefined && (isSame || ownCpu !== undefined);
      const alike = isAlike ? known : value.sizes.map((size) => sizes.intern(size));
      sizesOf.set(kept, alike);
      const made = { ...value, shared: kept, sizes: alike };
      // Moments and sizes of single pods would push out what thousands share.
      const isOfMany = (known === undefined || isAlike) && !isUnderWay(value);
      return { common: isOfMany ? common.intern(made) : made, ownCpu };
    },
    containers: createInterner<readonly ContainerSpecRecord[]>(maxEntries, (specs) =>
      specs.map((spec) => ({ ...spec, size: sizes.intern(spec.size) })),
    ),
    marks,
    templateManagers: createInterner<Readonly<Record<string, readonly string[]>>>(maxEntries),
  };
}

function isUnderWay({ resize, unobserved = 0 }: CommonSizing): boolean {
  return unobserved !== 0 || resize.inProgress !== undefined || resize.pending !== undefined;
}
