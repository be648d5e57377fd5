/**
 * The port `KubeApi` without a network: calls go straight to the server's operations and answer in microtasks, so
 * informers and controllers run in virtual time. Answers and watch events share the store's frozen objects, as an informer's
 * cache does: whoever wants to change one copies it first.
 */
import type { KubeObject, Status } from '../../api/core.ts';
import type { KubeApi, ListOptions, WatchEvent, WatchOptions, WriteOptions } from '../../api/kube-api.ts';
import { apiVersionOf, type ResourceType } from '../../api/resources.ts';
import type { Gate, RequestInfo } from './gate.ts';
import { isObject, type JsonObject, toJson } from './json.ts';
import type { Operations, Target } from './operations.ts';
import type { Caller, WriteContext } from './request.ts';
import { selectedNameOf } from './selectors.ts';
import type { ServedType } from './served-type.ts';
import { missingFieldManager } from './server-side-apply.ts';
import { badRequest, unknownResource } from './status-error.ts';
import type { TypeRegistry } from './type-registry.ts';
import { createWatchQueue } from './watch-queue.ts';
import type { OpenWatch } from './watcher.ts';

export interface InProcessClientOptions {
  readonly operations: Operations;
  readonly registry: TypeRegistry;
  readonly gate: Gate;
  readonly caller: Caller;
}

/** Stored JSON as the caller's type: the type registry has matched kind and version, fields are the writer's business. */
function as<T>(object: JsonObject): T {
  return object as unknown as T;
}

function listing(type: ServedType, { namespace, fieldSelector }: ListOptions | WatchOptions) {
  return { type, namespace, subresource: '', fieldSelector };
}

/** What a write of the status says of anything else counts for nothing, so it is not copied either. */
function statusBody({ apiVersion, kind, metadata, status }: KubeObject & { readonly status?: unknown }) {
  return { apiVersion, kind, metadata, status };
}

function bodyOf(value: unknown): JsonObject {
  const body = toJson(value);
  if (!isObject(body)) throw badRequest('the body must be a JSON object');
  return body;
}

export function createInProcessClient({ operations, registry, gate, caller }: InProcessClientOptions): KubeApi {
  const resolve = (type: ResourceType): ServedType => {
    const served = registry.resolve(type);
    if (served === undefined) throw unknownResource();
    return served;
  };
  const target = (type: ResourceType, name: string, options: WriteOptions | undefined): Target => {
    const served = resolve(type);
    if (name === '') throw badRequest(`resource name may not be empty (${served.plural})`);
    if (served.namespaced && options?.namespace === undefined)
      throw badRequest(`an empty namespace may not be set for ${served.plural}`);
    return {
      type: served,
      namespace: served.namespaced ? options?.namespace : undefined,
      name,
      subresource: options?.subresource ?? '',
    };
  };
  const write = (options: WriteOptions | undefined): WriteContext => ({
    caller,
    dryRun: options?.dryRun ?? false,
    fieldManager: options?.fieldManager ?? 'in-process',
    warnings: [],
  });
  const pass = async (
    verb: string,
    {
      type,
      namespace,
      name = '',
      subresource,
      fieldSelector,
    }: Pick<Target, 'type' | 'namespace' | 'subresource'> & { name?: string; fieldSelector?: string | undefined },
    signal?: AbortSignal,
  ): Promise<RequestInfo> => {
    signal?.throwIfAborted();
    const selectedName = selectedNameOf(fieldSelector);
    const info: RequestInfo = { caller, verb, type, namespace, name, selectedName, subresource, signal };
    const pending = gate.enter(info);
    if (pending !== undefined) await pending;
    signal?.throwIfAborted();
    return info;
  };
  /** What every write goes through. @throws ConnectionDropped where its answer is to be lost. */
  const carryOut = async <T>(info: RequestInfo, work: () => Promise<T>): Promise<T> => {
    const done = await gate.perform(info, work);
    gate.leave(info);
    return done;
  };

  return {
    async get(type, name, options) {
      const at = target(type, name, options);
      const info = await pass('get', at, options?.signal);
      return as(operations.get(at, gate.staleness(info)));
    },
    async list(type, options = {}) {
      const served = resolve(type);
      const info = await pass('list', listing(served, options), options.signal);
      const page = operations.list(served, options, gate.staleness(info));
      const { items, resourceVersion, continueToken } = page;
      return {
        items: items.map((item) => as<never>(item)),
        resourceVersion,
        ...(continueToken === undefined ? {} : { continueToken }),
      };
    },
    async create(type, object, options) {
      const body = bodyOf(object);
      const served = resolve(type);
      const metadata = body['metadata'];
      const bodyNamespace =
        isObject(metadata) && typeof metadata['namespace'] === 'string' ? metadata['namespace'] : undefined;
      const namespace = served.namespaced ? (options?.namespace ?? bodyNamespace) : undefined;
      const info = await pass('create', { type: served, namespace, subresource: '' }, options?.signal);
      // As over the network: custom resources must say what they are, built-in ones may.
      const named = { apiVersion: apiVersionOf(served), kind: served.kind, ...body };
      return as(await carryOut(info, () => operations.create(served, namespace, named, write(options))));
    },
    async createSubresource(type, name, subresource, body, options) {
      const at = { ...target(type, name, options), subresource };
      const info = await pass('create', at, options?.signal);
      return as<KubeObject>(await carryOut(info, () => operations.act(at, bodyOf(body), write(options))));
    },
    async replace(type, object, options) {
      const isStatus = options?.subresource === 'status';
      const body = bodyOf(isStatus ? statusBody(object) : object);
      const { name = '', namespace } = object.metadata ?? {};
      const at = target(type, name, {
        ...options,
        ...(options?.namespace === undefined && namespace !== undefined ? { namespace } : {}),
      });
      const info = await pass('update', at, options?.signal);
      return as((await carryOut(info, () => operations.replace(at, body, write(options)))).object);
    },
    async patch(type, name, patch, options) {
      const at = target(type, name, options);
      const info = await pass('patch', at, options?.signal);
      if (patch.type === 'apply' && options?.fieldManager === undefined) throw missingFieldManager();
      return as((await carryOut(info, () => operations.patch(at, patch, write(options)))).object);
    },
    async delete(type, name, options) {
      const at = target(type, name, options);
      const info = await pass('delete', at, options?.signal);
      await carryOut(info, () => operations.delete(at, options ?? {}, write(undefined)));
    },
    async discover(apiVersion) {
      const slash = apiVersion.indexOf('/');
      const group = slash < 0 ? '' : apiVersion.slice(0, slash);
      const version = apiVersion.slice(slash + 1);
      return registry.all().filter((type) => type.group === group && type.version === version);
    },
    watch<T extends KubeObject>(type: ResourceType<T>, options: WatchOptions = {}) {
      return {
        [Symbol.asyncIterator]: () => lazily(() => openWatch<T>(type, options)),
      };
    },
  };

  async function openWatch<T extends KubeObject>(
    type: ResourceType<T>,
    options: WatchOptions,
  ): Promise<AsyncIterator<WatchEvent<T>>> {
    const served = resolve(type);
    const info = await pass('watch', listing(served, options), options.signal);
    const queue = createWatchQueue<WatchEvent<T>>();
    let open: OpenWatch | undefined;
    let stopped = false;
    const stop = (): void => {
      stopped = true;
      open?.stop();
    };
    const sink = gate.watchSink(
      info,
      {
        event: (kind, object) => queue.push({ type: kind, object: as<T>(object) } as WatchEvent<T>),
        error: (status: Status) => queue.push({ type: 'ERROR', object: status }),
        end: (error) => queue.end(error),
      },
      stop,
    );
    open = operations.watch(served, { ...options, allowBookmarks: true }, sink);
    // A fault may have ended the watch during its first events.
    if (stopped) open.stop();
    else options.onOpen?.();
    const leave = (): void => {
      stop();
      sink.end();
    };
    const onAbort = (): void => {
      queue.end(options.signal?.reason);
      leave();
    };
    options.signal?.addEventListener('abort', onAbort, { once: true });
    return queue.iterate(() => {
      options.signal?.removeEventListener('abort', onAbort);
      leave();
    });
  }
}

/** An iterator that is made by the first call to `next`. */
function lazily<T>(make: () => Promise<AsyncIterator<T>>): AsyncIterator<T> {
  let made: Promise<AsyncIterator<T>> | undefined;
  return {
    async next() {
      made ??= make();
      return (await made).next();
    },
    async return() {
      const iterator = made === undefined ? undefined : await made.catch(() => undefined);
      await iterator?.return?.();
      return { done: true, value: undefined };
    },
  };
}
