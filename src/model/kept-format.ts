/**
 * Which formats of what is kept in a workload's annotations this version can read. The formats of today carry no number.
 * A later one that today's version would misread says so by a member `v`, a number, at its top: then nothing of the
 * workload is changed, as its annotations would be written over.
 */
import { rightsizingKeys } from '../api/annotations-rightsizing.ts';
import type { Labels } from '../api/label-selector.ts';
import { memberOf } from '../lib/is-record.ts';
import { tryParseJson } from '../lib/try-parse-json.ts';

const keptKeys = [
  rightsizingKeys.appliedSizes,
  rightsizingKeys.replicaSizes,
  rightsizingKeys.learnedFloors,
  rightsizingKeys.watchedChanges,
] as const;

/** The first annotation that a later version of Stowage wrote; undefined: none. A container may be called `v`. */
export function keyOfNewerFormat(annotations: Labels): string | undefined {
  return keptKeys.find((key) => {
    const text = annotations[key];
    return text !== undefined && isNewerFormat(tryParseJson(text));
  });
}

/** Whether a later version of Stowage wrote the value, in a form that would be misread. */
export function isNewerFormat(value: unknown): boolean {
  return typeof memberOf(value, 'v') === 'number';
}
