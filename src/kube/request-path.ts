/** URLs of the Kubernetes API: paths, queries, and the content type of each kind of patch. */
import type { DeleteOptions, ListOptions, Patch, WatchOptions, WriteOptions } from '../api/kube-api.ts';
import type { ResourceType } from '../api/resources.ts';

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

interface Target {
  /** Absent: the whole cluster (for list and watch of namespaced types), or a cluster-wide type. */
  readonly namespace?: string | undefined;
  readonly name?: string;
  readonly subresource?: string | undefined;
}

/** Path of a collection or, with a name, of one object. Segments are escaped. */
export function resourcePath(type: ResourceType, { namespace, name, subresource }: Target): string {
  const root = type.group === '' ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
  const scope = type.namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  const object = name === undefined ? '' : `/${encodeURIComponent(name)}`;
  // Subresources may have segments of their own, such as a proxy path.
  const part = subresource === undefined ? '' : `/${subresource.split('/').map(encodeURIComponent).join('/')}`;
  return `${root}${scope}/${type.plural}${object}${part}`;
}

/**
 * Path of one object.
 * @throws TypeError without a name, or without a namespace for a namespaced type: the URL would then mean the whole
 *   collection, and a DELETE would empty it.
 */
export function objectPath(type: ResourceType, name: string | undefined, options: Omit<Target, 'name'>): string {
  if (name === undefined || name === '')
    throw new TypeError(`A ${type.kind} needs a name to be addressed; give metadata.name.`);
  requireNamespace(type, options.namespace);
  return resourcePath(type, { ...options, name });
}

/** Path to create an object in. */
export function collectionPath(type: ResourceType, namespace: string | undefined): string {
  requireNamespace(type, namespace);
  return resourcePath(type, { namespace });
}

function requireNamespace(type: ResourceType, namespace: string | undefined): void {
  if (type.namespaced && (namespace === undefined || namespace === '')) {
    throw new TypeError(`A ${type.kind} lives in a namespace; give options.namespace or metadata.namespace.`);
  }
}

/** Appends the query; parameters that are undefined are left out, empty ones are kept. */
export function withQuery(path: string, query: Query): string {
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(key, String(value));
  }
  const text = parameters.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** Parameters of a list; those that are undefined are left out by {@link withQuery}. */
export function listQuery(options: ListOptions): Query {
  return {
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    limit: options.limit,
    continue: options.continueToken,
    resourceVersion: options.resourceVersion,
    resourceVersionMatch: options.resourceVersionMatch,
  };
}

/** Parameters of a watch; bookmarks are always asked for. */
export function watchQuery(options: WatchOptions): Query {
  return {
    watch: true,
    allowWatchBookmarks: true,
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    timeoutSeconds: options.timeoutSeconds,
    resourceVersion: options.resourceVersion,
    // The only match the API server takes with sendInitialEvents (KEP-3157).
    ...(options.sendInitialEvents === true && { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' }),
  };
}

/** Parameters of a create, update or patch. Dry run is `All`, the only value there is. */
export function writeQuery(options: WriteOptions): Query {
  return { fieldManager: options.fieldManager, dryRun: options.dryRun === true ? 'All' : undefined };
}

/** Body of a DELETE: options travel there, not in the query. */
export function deleteBody(options: DeleteOptions): object {
  const { uid, resourceVersion, gracePeriodSeconds, propagationPolicy } = options;
  const preconditions = {
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
  return {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    ...(Object.keys(preconditions).length > 0 && { preconditions }),
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(propagationPolicy !== undefined && { propagationPolicy }),
  };
}

/** The API server tells patches apart by content type only; a wrong one is answered 415. */
export const patchContentTypes: Readonly<Record<Patch['type'], string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  // JSON is YAML, too; the plain JSON name is not served by older versions.
  apply: 'application/apply-patch+yaml',
};
