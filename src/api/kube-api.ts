/**
 * The port to a Kubernetes API. `kube/` implements it over HTTP/2 for real clusters; the embedded cluster implements it
 * in-process, so informers, controllers and stand-ins run unchanged on both and in virtual time.
 * Every method rejects with {@link KubeError} (see kube-error.ts) on an API answer other than success.
 */
import type { KubeObject, Status } from './core.ts';
import type { ResourceType } from './resources.ts';

/** A call that `signal` aborts rejects with the signal's reason; whether a write was carried out is then not known. */
export interface CallOptions {
  /** Required for namespaced types, except in `list` and `watch`, where absent means "all namespaces". */
  readonly namespace?: string;
  readonly signal?: AbortSignal;
  /**
   * `control` calls (status, evictions) use their own connection and a reserve of the rate limit, so bulk traffic can
   * never starve them; a `lease` call also goes before every `control` call that waits for the limit, because a burst of
   * those must not cost the leadership. Default `bulk` for list and watch, `control` for everything else.
   */
  readonly lane?: 'bulk' | 'control' | 'lease';
}

export interface WriteOptions extends CallOptions {
  /** Required for `apply`; other writes are owned by the client's own name without it. */
  readonly fieldManager?: string;
  /** Ask the API server to validate and admit, but not to store. */
  readonly dryRun?: boolean;
  readonly subresource?: string;
}

export interface ListOptions extends CallOptions {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Most items of a page. Absent: all in one answer, which for large types costs the memory of all of them. */
  readonly limit?: number;
  readonly continueToken?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'NotOlderThan' | 'Exact';
}

/** All pages of a listing show the state at the `resourceVersion` of the first. */
export interface ListPage<T> {
  readonly items: T[];
  readonly resourceVersion: string;
  /** Present when more pages follow. */
  readonly continueToken?: string;
}

export interface WatchOptions extends CallOptions {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly resourceVersion?: string;
  /** WatchList (KEP-3157): stream the current state first, ended by a bookmark annotated `k8s.io/initial-events-end`. */
  readonly sendInitialEvents?: boolean;
  readonly timeoutSeconds?: number;
  /** Called once when the server has accepted the watch, before any event: a quiet watch then counts as alive. */
  readonly onOpen?: () => void;
}

/** A BOOKMARK carries a version and nothing else; after an ERROR the stream ends. */
export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly object: KubeObject }
  | { readonly type: 'ERROR'; readonly object: Status };

export type Patch =
  | { readonly type: 'json'; readonly body: readonly JsonPatchOperation[] }
  | { readonly type: 'merge' | 'strategic'; readonly body: object }
  /** Server-side apply; `force` takes over fields of other managers. */
  | { readonly type: 'apply'; readonly body: object; readonly force?: boolean };

export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

/**
 * `uid` and `resourceVersion` are preconditions: the deletion conflicts (409) where the object is another one by now.
 */
export interface DeleteOptions extends CallOptions {
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
}

/** A resource type that the API server serves, as discovery tells it. */
export interface DiscoveredResource {
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Names such as `status`, `resize`. */
  readonly subresources?: readonly string[];
}

export interface KubeApi {
  get<T extends KubeObject>(type: ResourceType<T>, name: string, options?: CallOptions): Promise<T>;
  list<T extends KubeObject>(type: ResourceType<T>, options?: ListOptions): Promise<ListPage<T>>;
  /**
   * Like `list`, but hands over each item as it is read and keeps none, so a page of any size costs the memory of one
   * item. Optional: where it is missing, callers use `list`.
   */
  listEach?<T extends KubeObject>(
    type: ResourceType<T>,
    options: ListOptions,
    onItem: (item: T) => void,
  ): Promise<Omit<ListPage<T>, 'items'>>;
  create<T extends KubeObject>(type: ResourceType<T>, object: T, options?: WriteOptions): Promise<T>;
  /** POST to a subresource such as `eviction` or `binding`. */
  createSubresource(
    type: ResourceType,
    name: string,
    subresource: string,
    body: object,
    options?: WriteOptions,
  ): Promise<KubeObject>;
  /** PUT; conflicts (409) when `metadata.resourceVersion` is given and stale. */
  replace<T extends KubeObject>(type: ResourceType<T>, object: T, options?: WriteOptions): Promise<T>;
  patch<T extends KubeObject>(type: ResourceType<T>, name: string, patch: Patch, options?: WriteOptions): Promise<T>;
  /** Resolves when the server has accepted it: finalizers and grace periods may keep the object for long. */
  delete(type: ResourceType, name: string, options?: DeleteOptions): Promise<void>;
  /**
   * Opens a watch with bookmarks enabled. The iteration ends without error when the server closes the stream normally
   * (its timeout), throws KubeError for an HTTP error answer, and throws the transport's error when the connection breaks.
   */
  watch<T extends KubeObject>(type: ResourceType<T>, options?: WatchOptions): AsyncIterable<WatchEvent<T>>;
  /**
   * What is served under `group/version`; empty when nothing is. Every authenticated caller may ask.
   * Optional: where it is missing, nothing but the built-in types is served.
   */
  discover?(apiVersion: string, options?: CallOptions): Promise<readonly DiscoveredResource[]>;
}
