/** Ownership of fields (metadata.managedFields). */
import type { ApiObject, ServedType } from './served-type.ts';

export interface ManagedFields {
  recordUpdate(
    type: ServedType,
    old: ApiObject | undefined,
    next: ApiObject,
    manager: string,
    subresource: string,
  ): void;
}
