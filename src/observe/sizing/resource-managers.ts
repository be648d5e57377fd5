/** Who wrote the resources of containers, from `metadata.managedFields` (KEP-555). */

import type { ObjectMeta } from '../../api/core.ts';
import { isRecord } from '../../lib/is-record.ts';
import { ownMember } from '../../lib/own-member.ts';
import { listOf } from '../fields.ts';

type Entry = NonNullable<ObjectMeta['managedFields']>[number] & { readonly subresource?: string };

/**
 * Managers that own `resources` of a container through the subresource `resize`: whoever changed the size of the
 * running pod last. What the pod was created with belongs to its creator and says nothing about resizing.
 */
export function resizeManagers(managedFields: ObjectMeta['managedFields'] | null): readonly string[] {
  const names = listOf<Entry>(managedFields, 'metadata.managedFields')
    .filter(
      ({ subresource, fieldsV1 }) => subresource === 'resize' && sizedContainers(at(fieldsV1, 'f:spec')).length > 0,
    )
    .map(({ manager }) => manager ?? '');
  return [...new Set(names)].sort();
}

/** Managers that own resources in a pod template, by container. */
export function templateManagers(
  managedFields: ObjectMeta['managedFields'] | null,
  /** Fields from the object's root to the pod spec. */
  path: readonly string[] = ['f:spec', 'f:template', 'f:spec'],
): Readonly<Record<string, readonly string[]>> {
  const byContainer: Record<string, string[]> = {};
  for (const { manager = '', fieldsV1 } of listOf<Entry>(managedFields, 'metadata.managedFields')) {
    const spec = path.reduce<unknown>((fields, key) => at(fields, key), fieldsV1);
    for (const container of sizedContainers(spec)) {
      const managers = ownMember(byContainer, container) ?? [];
      byContainer[container] = managers.includes(manager) ? managers : [...managers, manager];
    }
  }
  return byContainer;
}

/** Names of the containers below a set of fields of a pod spec whose resources belong to it. */
function sizedContainers(spec: unknown): string[] {
  return ['f:containers', 'f:initContainers'].flatMap((list) =>
    Object.entries(fieldsOf(at(spec, list))).flatMap(([key, fields]) =>
      at(fields, 'f:resources') === undefined ? [] : (nameIn(key) ?? []),
    ),
  );
}

/** Items of a list are addressed by their key: `k:{"name":"app"}`. */
function nameIn(key: string): string | undefined {
  if (!key.startsWith('k:')) return undefined;
  try {
    const parsed: unknown = JSON.parse(key.slice(2));
    const name = at(parsed, 'name');
    return typeof name === 'string' ? name : undefined;
  } catch {
    return undefined;
  }
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

function at(value: unknown, key: string): unknown {
  return fieldsOf(value)[key];
}
