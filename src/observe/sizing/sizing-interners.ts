/** What the sizing parts of many records share, kept once. */
import type { Labels } from '../../model/records.ts';
import type { ContainerSize, ContainerSpecRecord, ResizeState } from '../../model/sizing-records.ts';
import { createInterner, type Interner } from '../intern.ts';

export interface SizingInterners {
  readonly containers: Interner<readonly ContainerSpecRecord[]>;
  readonly sizes: Interner<ContainerSize>;
  readonly marks: Interner<Labels>;
  readonly managers: Interner<readonly string[]>;
  readonly templateManagers: Interner<Readonly<Record<string, readonly string[]>>>;
  readonly resizes: Interner<ResizeState>;
}

/** Beyond this many live values of a kind equal ones are merely no longer shared. */
export function createSizingInterners(maxEntries: number): SizingInterners {
  const sizes = createInterner<ContainerSize>(maxEntries);
  return {
    sizes,
    containers: createInterner<readonly ContainerSpecRecord[]>(maxEntries, (containers) =>
      containers.map((container) => ({ ...container, size: sizes.intern(container.size) })),
    ),
    marks: createInterner<Labels>(maxEntries),
    managers: createInterner<readonly string[]>(maxEntries),
    templateManagers: createInterner<Readonly<Record<string, readonly string[]>>>(maxEntries),
    resizes: createInterner<ResizeState>(maxEntries),
  };
}
