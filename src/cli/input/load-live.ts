/** The cluster as an API server shows it now: one consistent listing a kind, nothing watched, nothing written. */
import type { KubeApi } from '../../api/kube-api.ts';
import { isForbidden, isNotFound } from '../../api/kube-error.ts';
import type { ResourceType } from '../../api/resources.ts';
import { listAll } from '../../kube/listing.ts';
import {
  type ClusterInput,
  createClusterInputBuilder,
  type InputKind,
  inputKinds,
  kindNames,
} from './cluster-input.ts';

export interface LiveInput extends ClusterInput {
  /** Kinds this user may not list, or the server does not serve. */
  readonly unreadable: readonly InputKind[];
}

/** Small pages: a page is parsed item by item, but the server holds it whole. */
const PAGE_SIZE = 500;

/**
 * Lists everything that placement looks at. A kind that may not be listed is left out and named in the result.
 * @throws KubeError, or the transport's error, for anything but 403 and 404.
 */
export async function loadLive(api: KubeApi, signal: AbortSignal): Promise<LiveInput> {
  const builder = createClusterInputBuilder({ defaultNamespace: 'default' });
  const unreadable: InputKind[] = [];
  for (const kind of kindNames) {
    const type: ResourceType = inputKinds[kind];
    try {
      await listAll(api, type, { limit: PAGE_SIZE, signal }, () => {
        builder.forget(kind);
        return builder;
      });
    } catch (error) {
      if (!isForbidden(error) && !isNotFound(error)) throw error;
      unreadable.push(kind);
    }
  }
  return { ...builder.build(), unreadable };
}
