/** Listings for somebody who may not see everything: what is refused, or not served, is an answer here and no error. */
import type { KubeObject } from '../../api/core.ts';
import type { KubeApi, ListOptions } from '../../api/kube-api.ts';
import { isForbidden, isNotFound, KubeError } from '../../api/kube-error.ts';
import { apiVersionOf, type ResourceType } from '../../api/resources.ts';
import { type ListingTarget, listAll } from '../../kube/listing.ts';

/** Small pages: a page is parsed item by item, but the server holds it whole. */
export const PAGE_SIZE = 500;

/** The API and whether to go on. */
export interface Reader {
  readonly api: KubeApi;
  readonly signal: AbortSignal;
}

export type Selection = Pick<ListOptions, 'fieldSelector' | 'labelSelector'>;

/**
 * Lists everything of a type in the namespace, or everywhere.
 * @returns why it could not be read: the server's 403 or 404; undefined when it was.
 * @throws KubeError, or the transport's error, for anything else.
 */
export async function readAllowed<T extends KubeObject>(
  { api, signal }: Reader,
  type: ResourceType<T>,
  namespace: string | undefined,
  begin: () => ListingTarget<T>,
  more: Selection = {},
): Promise<KubeError | undefined> {
  const within = namespace === undefined || !type.namespaced ? {} : { namespace };
  return await whatRefused(() => listAll(api, type, { limit: PAGE_SIZE, signal, ...within, ...more }, begin));
}

/** The 403 or 404 with which a call ends; undefined when it succeeds. */
export async function whatRefused(call: () => Promise<unknown>): Promise<KubeError | undefined> {
  try {
    await call();
    return undefined;
  } catch (error) {
    if (isForbidden(error) || isNotFound(error)) return error;
    throw error;
  }
}

/** How much of a type was read: of all namespaces, of the one asked for, nothing; or there is no such type. */
export type Reach = 'cluster' | 'namespace' | 'none' | 'absent';

/**
 * Lists a type that may not be installed: the whole cluster, or the namespace where no more is allowed, or wanted.
 * Without a namespace it is all or nothing.
 */
export async function readAsFarAsAllowed(
  reader: Reader,
  type: ResourceType,
  { namespace, isPartial = false }: { readonly namespace: string | undefined; readonly isPartial?: boolean },
  begin: () => ListingTarget<KubeObject>,
): Promise<Reach> {
  const refusals: KubeError[] = [];
  for (const reach of ['cluster', 'namespace'] as const) {
    if (reach === 'cluster' ? isPartial : namespace === undefined) continue;
    const refused = await readAllowed(reader, type, reach === 'cluster' ? undefined : namespace, begin);
    if (refused === undefined) return reach;
    refusals.push(refused);
  }
  return refusals.some(isNotFound) || !(await isServed(reader, type)) ? 'absent' : 'none';
}

/** Who lacks the right is refused types that are not there, too: discovery, which everybody may ask, tells. */
async function isServed({ api, signal }: Reader, type: ResourceType): Promise<boolean> {
  if (api.discover === undefined) return true;
  try {
    const served = await api.discover(apiVersionOf(type), { signal });
    return served.some(({ plural }) => plural === type.plural);
  } catch (error) {
    if (error instanceof KubeError) return true;
    throw error;
  }
}
