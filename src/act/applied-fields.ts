/** Which amounts of a pod template our server-side applies own, from `metadata.managedFields`. */

import type { ObjectMeta } from '../api/core.ts';
import { fieldsAt, ownedResources, templateSpecFields } from '../api/managed-fields.ts';
import { type SizeChange, type SizeKey, sizeKeys, sizePaths } from '../model/pod-size.ts';
import { sizeManagers } from '../model/size-managers.ts';
import type { ContainerSpecRecord } from '../model/sizing-records.ts';

/** Amounts by container. */
export type AppliedFields = ReadonlyMap<string, ReadonlySet<SizeKey>>;

/**
 * Which sizes of which containers the rightsizing manager owns by server-side apply. What cannot be read is taken as
 * not owned.
 */
export function appliedByOptipod(managedFields: ObjectMeta['managedFields']): AppliedFields {
  const applied = new Map<string, Set<SizeKey>>();
  for (const { manager, operation, fieldsV1 } of managedFields ?? []) {
    if (manager !== sizeManagers.rightsizing || operation !== 'Apply') continue;
    for (const { container, fields } of ownedResources(fieldsAt(fieldsV1, templateSpecFields))) {
      const keys = sizeKeys.filter((key) => {
        const { list, resource } = sizePaths[key];
        return fieldsAt(fields, [`f:${list}`, `f:${resource}`]) !== undefined;
      });
      if (keys.length > 0) applied.set(container, new Set([...(applied.get(container) ?? []), ...keys]));
    }
  }
  return applied;
}

/** The changes, and what was applied before at its present value: an apply that left it out would give it up. */
export function changesWithApplied(
  containers: readonly ContainerSpecRecord[],
  changes: readonly SizeChange[],
  applied: AppliedFields,
): readonly SizeChange[] {
  return containers.flatMap(({ name, size }): SizeChange[] => {
    const to: { -readonly [Key in SizeKey]?: number } = {};
    for (const key of applied.get(name) ?? []) {
      const value = size[key];
      if (value !== undefined) to[key] = value;
    }
    Object.assign(to, changes.find(({ container }) => container === name)?.to);
    return Object.keys(to).length === 0 ? [] : [{ container: name, to }];
  });
}
