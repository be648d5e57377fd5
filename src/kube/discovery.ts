/** Reads the discovery document of one group version (APIResourceList). */
import type { DiscoveredResource } from '../api/kube-api.ts';
import { isObject } from './answer.ts';

/** Subresources and entries that cannot be read are left out. */
export function discoveredResources(document: unknown): readonly DiscoveredResource[] {
  const entries: unknown = isObject(document) ? document['resources'] : undefined;
  if (!Array.isArray(entries)) return [];
  return entries.flatMap((entry: unknown): DiscoveredResource[] => {
    if (!isObject(entry)) return [];
    const { name, kind, namespaced } = entry;
    if (typeof name !== 'string' || typeof kind !== 'string' || name.includes('/')) return [];
    return [{ plural: name, kind, namespaced: namespaced === true }];
  });
}
