/** Which amounts of a pod template our server-side applies own, from `metadata.managedFields`. */

import type { ObjectMeta } from '../api/core.ts';
import { isRecord } from '../lib/is-record.ts';
import { type SizeChange, type SizeKey, sizeKeys } from '../model/pod-size.ts';
import { sizeManagers } from '../model/size-managers.ts';
import type { ContainerSpecRecord } from '../model/sizing-records.ts';

/** Amounts by container. */
export type AppliedFields = ReadonlyMap<string, ReadonlySet<SizeKey>>;

const TEMPLATE_SPEC = ['f:spec', 'f:template', 'f:spec'];

/**
 * Which sizes of which containers the rightsizing manager owns by server-side apply. What cannot be read is taken as
 * not owned.
 */
export function appliedByOptipod(managedFields: ObjectMeta['managedFields']): AppliedFields {
  const applied = new Map<string, Set<SizeKey>>();
  for (const { manager, operation, fieldsV1 } of managedFields ?? []) {
    if (manager !== sizeManagers.rightsizing || operation !== 'Apply') continue;
    const spec = TEMPLATE_SPEC.reduce<unknown>(fieldOf, fieldsV1);
    for (const list of ['f:containers', 'f:initContainers']) {
      for (const [key, fields] of Object.entries(asRecord(fieldOf(spec, list)))) {
        const name = /^k:\{"name":"([^"]+)"\}$/.exec(key)?.[1];
        if (name === undefined) continue;
        const keys = sizeKeys.filter((each) => {
          const part = each.endsWith('Request') ? 'f:requests' : 'f:limits';
          const resource = each.startsWith('cpu') ? 'f:cpu' : 'f:memory';
          return [part, resource].reduce<unknown>(fieldOf, fieldOf(fields, 'f:resources')) !== undefined;
        });
        if (keys.length > 0) applied.set(name, new Set([...(applied.get(name) ?? []), ...keys]));
      }
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

function fieldOf(value: unknown, key: string): unknown {
  return asRecord(value)[key];
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}
