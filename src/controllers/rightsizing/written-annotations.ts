/**
 * Annotations of one workload: what was written and the view shows only later, and what is put back where somebody
 * replaced the object by one without it, as `kubectl replace` does. Without it running pods would be brought in line with
 * the template, less memory among it, until the next change.
 */
import { isWrittenByRightsizing, rightsizingKeys } from '../../api/annotations-rightsizing.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { SizedWorkload } from '../../model/sizing-records.ts';
import type { Annotations } from './annotate.ts';

/** A watch is never so far behind; what is not seen by then was undone by somebody else. */
export const UNSEEN_MILLIS: Millis = 30_000;

export class WrittenAnnotations {
  #written: { readonly at: EpochMillis; readonly annotations: Annotations } | undefined;
  /** What sizes hang on, as it was on the workload at the last look. */
  #kept: KeptAnnotations | undefined;

  /** By the last look the view shows all that was written; admission reads what the view shows. */
  get areShown(): boolean {
    return this.#written === undefined;
  }

  note(annotations: Annotations, at: EpochMillis): void {
    this.#written = { at, annotations: { ...this.#written?.annotations, ...annotations } };
  }

  /** The workload as it is with what was written to it since. */
  putOn(workload: SizedWorkload, now: EpochMillis): SizedWorkload {
    if (this.#written === undefined) return workload;
    const missing = Object.entries(this.#written.annotations).filter(
      ([key, value]) => (workload.annotations[key] ?? null) !== value,
    );
    if (missing.length === 0 || now - this.#written.at >= UNSEEN_MILLIS) {
      this.#written = undefined;
      return workload;
    }
    const annotations = { ...workload.annotations };
    for (const [key, value] of missing) {
      if (value === null) delete annotations[key];
      else annotations[key] = value;
    }
    return { ...workload, annotations };
  }

  /** @param found as the view shows it. */
  keep(found: SizedWorkload, now: EpochMillis): void {
    this.#kept = keptAnnotations(this.putOn(found, now)) ?? this.lostOf(found);
  }

  /** What of the workload went all at once since it was last kept, to be put back. */
  lostOf(workload: SizedWorkload): KeptAnnotations | undefined {
    return lostAnnotations(workload, this.#kept);
  }
}

type KeptAnnotations = Readonly<Record<string, string>>;

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
