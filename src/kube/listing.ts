/**
 * A complete listing in pages, each item handed over at once, restarted when a continue token expires between pages.
 */
import type { KubeObject } from '../api/core.ts';
import type { KubeApi, ListOptions, ListPage } from '../api/kube-api.ts';
import { isExpired } from '../api/kube-error.ts';
import type { ResourceType } from '../api/resources.ts';

/** What a listing fills; dropped and begun anew when the listing has to start again. */
export interface ListingTarget<T> {
  add(object: T): void;
}

/** A complete listing at one version. */
export interface Listing<Target> {
  readonly target: Target;
  /** The state the listing shows; a watch continues from here. */
  readonly resourceVersion: string;
}

/**
 * Starts over after an expired token this many times (tokens live about five minutes, as long as etcd keeps the past);
 * then asks for everything in one answer, which cannot expire.
 */
const MAX_PAGED_ATTEMPTS = 3;

/**
 * One page, each item handed over as it arrives where the API can do that.
 * @throws KubeError, or the transport's error.
 */
export async function readPage<T extends KubeObject>(
  api: Pick<KubeApi, 'list' | 'listEach'>,
  type: ResourceType<T>,
  options: ListOptions,
  onItem: (item: T) => void,
): Promise<Omit<ListPage<T>, 'items'>> {
  if (api.listEach !== undefined) return await api.listEach(type, options, onItem);
  const page = await api.list(type, options);
  for (const item of page.items) onItem(item);
  return page;
}

/** @throws KubeError 410 where a continue token expired between two pages; the target is then incomplete. */
async function readPages<T extends KubeObject, Target extends ListingTarget<T>>(
  api: KubeApi,
  type: ResourceType<T>,
  options: ListOptions,
  target: Target,
): Promise<Listing<Target>> {
  const onItem = (item: T): void => target.add(item);
  let page = await readPage(api, type, options, onItem);
  // Every page shows the state of the first one.
  const resourceVersion = page.resourceVersion;
  while (page.continueToken !== undefined && page.continueToken !== '') {
    options.signal?.throwIfAborted();
    page = await readPage(api, type, { ...options, continueToken: page.continueToken }, onItem);
  }
  return { target, resourceVersion };
}

/**
 * Lists everything, consistently: no resourceVersion is sent, because `resourceVersion=0` makes API servers ignore the
 * page size and may show the past, and a remembered one may be too old or "too large".
 *
 * @param begin makes an empty target; called again for each restart.
 * @throws KubeError, or the transport's error.
 */
export async function listAll<T extends KubeObject, Target extends ListingTarget<T>>(
  api: KubeApi,
  type: ResourceType<T>,
  options: ListOptions,
  begin: () => Target,
): Promise<Listing<Target>> {
  for (let attempt = 1; attempt <= MAX_PAGED_ATTEMPTS; attempt++) {
    try {
      return await readPages(api, type, options, begin());
    } catch (error) {
      if (!isExpired(error)) throw error;
    }
  }
  const { limit: _, ...unlimited } = options;
  return await readPages(api, type, unlimited, begin());
}

/**
 * The version that the newest state of the type has, for the price of one object.
 * @throws KubeError, or the transport's error.
 */
export async function newestVersion<T extends KubeObject>(
  api: KubeApi,
  type: ResourceType<T>,
  options: ListOptions,
): Promise<string> {
  const { resourceVersion } = await readPage(api, type, { ...options, limit: 1 }, () => {});
  return resourceVersion;
}
