/** ResourceQuotas read at the moment: before a raise, what the informer knew a moment ago is not enough. */
import type { ResourceQuota } from '../api/core.ts';
import type { KubeApi } from '../api/kube-api.ts';
import { resources } from '../api/resources.ts';
import type { QuotaRecord } from '../model/sizing-records.ts';
import { projectQuota } from './sizing/project-bounds.ts';

/**
 * Undefined: they could not be read, and what is not known leaves no room. Never rejects. Of one instant: the API
 * server counts what was granted since, and refuses with 403 what no longer fits.
 */
export type ReadQuotas = (namespace: string, signal: AbortSignal) => Promise<readonly QuotaRecord[] | undefined>;

export function createReadQuotas(api: KubeApi): ReadQuotas {
  return async (namespace, signal) => {
    try {
      const { items } = await api.list<ResourceQuota>(resources.resourceQuotas, { namespace, signal });
      return items.map(projectQuota);
    } catch {
      return undefined;
    }
  };
}
