/** Namespaces must exist, and not be going away, before anything is created in them. */

import { resources } from '../../api/resources.ts';
import type { Reader } from './reader.ts';
import type { ApiObject, ServedType } from './served-type.ts';
import { forbidden, notFound } from './status-error.ts';
import { serve } from './type-table.ts';

const NAMESPACES = serve(resources.namespaces);

/** Namespaces every cluster has; `default`, `kube-system` and `kube-public` cannot be deleted. */
export const BUILT_IN_NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease'] as const;
const IMMORTAL_NAMESPACES: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public']);

/** Throws 404 when the namespace of a new object does not exist and 403 when it is terminating. */
export function checkNamespaceOpen(reader: Reader, type: ServedType, object: ApiObject): void {
  if (!type.namespaced) return;
  const namespace = object.metadata.namespace ?? '';
  const found = reader.find(NAMESPACES, undefined, namespace);
  if (found === undefined) throw notFound(NAMESPACES, namespace);
  if (found.metadata.deletionTimestamp === undefined) return;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  throw forbidden(type, object.metadata.name ?? '', why, [
    {
      reason: 'NamespaceTerminating',
      message: `namespace ${namespace} is being terminated`,
      field: 'metadata.namespace',
    },
  ]);
}

/** Throws 403 for a namespace that must always be there. */
export function checkNamespaceDeletable(type: ServedType, name: string): void {
  if (type.storage === NAMESPACES.storage && IMMORTAL_NAMESPACES.has(name))
    throw forbidden(type, name, 'this namespace may not be deleted');
}
