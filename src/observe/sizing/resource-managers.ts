/** Who wrote the resources of containers, from `metadata.managedFields` (KEP-555). */

import type { ObjectMeta } from '../../api/core.ts';
import { fieldsAt, ownedResources, templateSpecFields } from '../../api/managed-fields.ts';
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
      ({ subresource, fieldsV1 }) =>
        subresource === 'resize' && ownedResources(fieldsAt(fieldsV1, ['f:spec'])).length > 0,
    )
    .map(({ manager }) => manager ?? '');
  return [...new Set(names)].sort();
}

/** Managers that own resources in a pod template, by container. */
export function templateManagers(
  managedFields: ObjectMeta['managedFields'] | null,
  /** Fields from the object's root to the pod spec. */
  path = templateSpecFields,
): Readonly<Record<string, readonly string[]>> {
  const byContainer: Record<string, string[]> = {};
  for (const { manager = '', fieldsV1 } of listOf<Entry>(managedFields, 'metadata.managedFields')) {
    for (const { container } of ownedResources(fieldsAt(fieldsV1, path))) {
      const managers = ownMember(byContainer, container) ?? [];
      byContainer[container] = managers.includes(manager) ? managers : [...managers, manager];
    }
  }
  return byContainer;
}
