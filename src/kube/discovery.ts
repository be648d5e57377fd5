/** Reads the discovery document of one group version (APIResourceList). */

import type { DiscoveredResource } from '../api/kube-api.ts';
import { isRecord } from '../lib/is-record.ts';

/** Entries that cannot be read are left out; subresources are told with the resource they belong to. */
export function discoveredResources(document: unknown): readonly DiscoveredResource[] {
  const entries: unknown = isRecord(document) ? document['resources'] : undefined;
  if (!Array.isArray(entries)) return [];
  const names = entries.flatMap((entry: unknown) =>
    isRecord(entry) && typeof entry['name'] === 'string' ? entry['name'] : [],
  );
  return entries.flatMap((entry: unknown): DiscoveredResource[] => {
    if (!isRecord(entry)) return [];
    const { name, kind, namespaced } = entry;
    if (typeof name !== 'string' || typeof kind !== 'string' || name.includes('/')) return [];
    const prefix = `${name}/`;
    const subresources = names.filter((each) => each.startsWith(prefix)).map((each) => each.slice(prefix.length));
    return [{ plural: name, kind, namespaced: namespaced === true, subresources }];
  });
}
