/** What the sizing parts of many records share, kept once. */
import type { Labels } from '../../model/records.ts';
import type { ContainerSize, ContainerSpecRecord, ResizeState } from '../../model/sizing-records.ts';
import { createInterner, type Interner } from '../intern.ts';
import type { CommonSizing, SharedSizing, StatusShape } from './compact-pod-sizing.ts';

/** The live stores have one set, the stores of sizing another: they share nothing, and nothing breaks for it. */
export interface SizingInterners {
  /** Of pods. */
  readonly common: Interner<CommonSizing>;
  /** Of workloads and of {@link SizingInterners.common}. */
  readonly containers: Interner<readonly ContainerSpecRecord[]>;
  readonly marks: Interner<Labels>;
  readonly templateManagers: Interner<Readonly<Record<string, readonly string[]>>>;
}

/** Beyond this many live values of a kind equal ones are merely no longer shared. */
export function createSizingInterners(maxEntries: number): SizingInterners {
  const sizes = createInterner<ContainerSize>(maxEntries);
  const marks = createInterner<Labels>(maxEntries);
  const managers = createInterner<readonly string[]>(maxEntries);
  const containers = createInterner<readonly ContainerSpecRecord[]>(maxEntries, (specs) =>
    specs.map((spec) => ({ ...spec, size: sizes.intern(spec.size) })),
  );
  const shared = createInterner<SharedSizing>(maxEntries, (value) => ({
    ...value,
    containers: containers.intern(value.containers),
    marks: marks.intern(value.marks),
    sizeManagers: managers.intern(value.sizeManagers),
  }));
  const shapes = createInterner<readonly StatusShape[]>(maxEntries, (list) =>
    list.map((shape) => ({
      ...shape,
      actual: shape.actual && sizes.intern(shape.actual),
      allocated: shape.allocated && sizes.intern(shape.allocated),
    })),
  );
  const resizes = createInterner<ResizeState>(maxEntries);
  return {
    containers,
    marks,
    common: createInterner<CommonSizing>(maxEntries, (value) => ({
      ...value,
      shared: shared.intern(value.shared),
      shapes: shapes.intern(value.shapes),
      resize: resizes.intern(value.resize),
    })),
    templateManagers: createInterner<Readonly<Record<string, readonly string[]>>>(maxEntries),
  };
}
