/**
 * What is kept on a workload, where somebody replaced the object by one without it, as `kubectl replace` does: it is
 * put back. Without it running pods would be brought in line with the template, less memory among it, until the next
 * change.
 */
import { isWrittenByRightsizing, rightsizingKeys } from '../../api/annotations-rightsizing.ts';
import type { SizedWorkload } from '../../model/sizing-records.ts';

export type KeptAnnotations = Readonly<Record<string, string>>;

/** Advice is told anew anyway. */
const KEPT: readonly string[] = [
  rightsizingKeys.appliedSizes,
  rightsizingKeys.replicaSizes,
  rightsizingKeys.learnedFloors,
  rightsizingKeys.watchedChanges,
  rightsizingKeys.lastApplied,
];

/** Undefined where there is nothing to be missed. */
export function keptAnnotations({ annotations }: Pick<SizedWorkload, 'annotations'>): KeptAnnotations | undefined {
  const kept = KEPT.flatMap((key) => {
    const value = annotations[key];
    return value === undefined ? [] : [[key, value] as const];
  });
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/**
 * What went all at once since the last look, to be put back; undefined where nothing did. Whoever takes one away and
 * leaves the others means it.
 */
export function lostAnnotations(
  { annotations }: Pick<SizedWorkload, 'annotations'>,
  before: KeptAnnotations | undefined,
): KeptAnnotations | undefined {
  return Object.keys(annotations).some(isWrittenByRightsizing) ? undefined : before;
}
