/** The cluster as an API server shows it now: one consistent listing a kind, nothing watched, nothing written. */
import type { Event } from '../../api/core.ts';
import type { KubeApi, ListOptions } from '../../api/kube-api.ts';
import { isForbidden, isNotFound, KubeError } from '../../api/kube-error.ts';
import { type ResourceType, resources } from '../../api/resources.ts';
import { listAll } from '../../kube/listing.ts';
import { allocationTypes } from '../allocation/allocation-input.ts';
import { sizingTypes } from '../sizing/sizing-input.ts';
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
  /** Evictions that Stowage's events tell of; undefined where events cannot be listed. */
  readonly evictions: number | undefined;
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
  for (const type of sizingTypes) {
    try {
      await listAll(api, type as ResourceType, { limit: PAGE_SIZE, signal }, () => builder);
    } catch (error) {
      // Without the definition there are no policies, and without the right to see them there is nothing to tell.
      if (!isForbidden(error) && !isNotFound(error)) throw error;
    }
  }
  for (const type of allocationTypes) {
    try {
      await listAll(api, type as ResourceType, { limit: PAGE_SIZE, signal }, () => builder);
    } catch (error) {
      // A Metrics API that is down answers with 503: then nobody has measured.
      if (!(error instanceof KubeError)) throw error;
    }
  }
  return { ...builder.build(), unreadable, evictions: await countEvictions(api, signal) };
}

async function countEvictions(api: KubeApi, signal: AbortSignal): Promise<number | undefined> {
  const options: ListOptions = { limit: PAGE_SIZE, signal, fieldSelector: 'reason=EvictedForRebalance' };
  let count = 0;
  const target = {
    add: ({ series }: Event): void => {
      count += series?.count ?? 1;
    },
  };
  try {
    await listAll(api, resources.events, options, () => {
      count = 0;
      return target;
    });
    return count;
  } catch (error) {
    // A figure beside the point must not cost the whole answer.
    if (error instanceof KubeError) return undefined;
    throw error;
  }
}
