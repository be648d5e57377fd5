/** What the sizing parts of many records share, kept once. */
import type { Labels } from '../../model/records.ts';
import type { ContainerSize, ContainerSpecRecord, ResizeState } from '../../model/sizing-records.ts';
import { createInterner, type Interner } from '../intern.ts';
import type { SharedSizing, StatusShape } from './compact-pod-sizing.ts';

export interface SizingInterners {
  /** Of pods. */
  readonly shared: Interner<SharedSizing>;
  readonly shapes: Interner<readonly StatusShape[]>;
  readonly resizes: Interner<ResizeState>;
  /** Of workloads and of {@link SizingInterners.shared}. */
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
  return {
    containers,
    marks,
    shared: createInterner<SharedSizing>(maxEntries, (shared) => ({
      ...shared,
      containers: containers.intern(shared.containers),
      marks: marks.intern(shared.marks),
      sizeManagers: managers.intern(shared.sizeManagers),
    })),
    shapes: createInterner<readonly StatusShape[]>(maxEntries, (shapes) =>
      shapes.map((shape) => ({
        ...shape,
        actual: shape.actual && sizes.intern(shape.actual),
        allocated: shape.allocated && sizes.intern(shape.allocated),
      })),
    ),
    resizes: createInterner<ResizeState>(maxEntries),
    templateManagers: createInterner<Readonly<Record<string, readonly string[]>>>(maxEntries),
  };
}
