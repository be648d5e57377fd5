/** The HTTP face of the API: from a request to the operation it names, and from outcomes to answers. */

import { KubeError } from '../../../api/kube-error.ts';
import { ConnectionDropped } from '../../faults/fault.ts';
import { deletionOptionsOf, withDryRun } from '../deletion-options.ts';
import type { Gate, RequestInfo } from '../gate.ts';
import { isObject, type JsonObject } from '../json.ts';
import type { Operations, Target } from '../operations.ts';
import type { Caller } from '../request.ts';
import { selectedNameOf } from '../selectors.ts';
import {
  badRequest,
  internalError,
  methodNotServed,
  qualifiedResource,
  successStatus,
  unknownResource,
} from '../status-error.ts';
import { checkFields } from '../strict-fields.ts';
import type { TypeRegistry } from '../type-registry.ts';
import type { Exchange } from './exchange.ts';
import { checkRoute, plainMediaType } from './media-type.ts';
import {
  checkPatchType,
  deletionQueryOf,
  isTrue,
  listQueryOf,
  patchOf,
  selectionOf,
  watchOptionsOf,
  writeContextOf,
} from './query.ts';
import { checkStream, negotiate } from './representation.ts';
import type { Route } from './route.ts';
import type { TablePrinter } from './table.ts';
import { createLineCache, streamWatch } from './watch-stream.ts';

export interface ResourceHandlerOptions {
  readonly operations: Operations;
  readonly registry: TypeRegistry;
  readonly gate: Gate;
  readonly table: TablePrinter;
}

/** Types whose last state is the answer to their deletion. Source: ReturnDeletedObject of the registries. */
const RETURNED_WHEN_GONE: ReadonlySet<string> = new Set([
  '/pods',
  '/services',
  '/namespaces',
  '/serviceaccounts',
  '/resourcequotas',
  '/persistentvolumes',
  '/persistentvolumeclaims',
  'storage.k8s.io/storageclasses',
  'storage.k8s.io/csinodes',
]);

type ResourceRoute = Extract<Route, { kind: 'resource' }>;

/** Answers requests on resources. Rejects with what {@link sendFailure} turns into an answer. */
export function createResourceHandler({
  operations,
  registry,
  gate,
  table,
}: ResourceHandlerOptions): (exchange: Exchange, route: ResourceRoute, caller: Caller) => Promise<void> {
  const lines = createLineCache();

  const read = async (exchange: Exchange, info: RequestInfo): Promise<void> => {
    const { type, namespace, name, subresource } = info;
    const { query } = exchange;
    const accept = exchange.header('accept');
    const representation = negotiate(accept, type, query, table);
    const headers = { 'content-type': representation.contentType };
    if (name !== '') {
      exchange.send(
        200,
        representation.one(operations.get({ type, namespace, name, subresource }, gate.staleness(info))),
        headers,
      );
      return;
    }
    if (info.verb === 'watch') {
      const watchQuery = { ...selectionOf(query, namespace), ...watchOptionsOf(query) };
      checkStream(accept);
      streamWatch({ exchange, info, query: watchQuery, operations, gate, representation, lines });
      return;
    }
    const { items, resourceVersion, continueToken, remainingItemCount } = operations.list(
      type,
      listQueryOf(query, namespace),
      gate.staleness(info),
    );
    const metadata: JsonObject = {
      resourceVersion,
      ...(continueToken === undefined ? {} : { continue: continueToken }),
      ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
    };
    exchange.send(200, representation.list(items, metadata), headers);
  };

  const write = async (exchange: Exchange, info: RequestInfo): Promise<void> => {
    const { type, namespace, name, subresource } = info;
    const { method, query } = exchange;
    const target: Target = { type, namespace, name, subresource };
    if (method === 'PATCH') checkPatchType(exchange, type);
    const representation = negotiate(exchange.header('accept'), type, query, table);
    const context = writeContextOf(exchange, info.caller);
    const answer = (status: number, object: JsonObject): void => {
      gate.leave(info);
      const shown = object['kind'] === 'Status' ? object : representation.one(object);
      exchange.send(status, shown, { 'content-type': representation.contentType });
    };
    switch (method) {
      case 'POST': {
        const body = await exchange.readBody(type.kind);
        if (name === '') checkFields(type, body, context);
        answer(
          201,
          await gate.perform<JsonObject>(info, () =>
            name === '' ? operations.create(type, namespace, body, context) : operations.act(target, body, context),
          ),
        );
        return;
      }
      case 'PUT': {
        const body = await exchange.readBody(type.kind);
        checkFields(type, body, context);
        const { object, created } = await gate.perform(info, () => operations.replace(target, body, context));
        answer(created ? 201 : 200, object);
        return;
      }
      case 'PATCH': {
        const value = await exchange.readValue();
        if (value === undefined) throw badRequest('invalid JSON patch');
        const patch = patchOf(exchange, value);
        const { object, created } = await gate.perform(info, () => operations.patch(target, patch, context));
        answer(created ? 201 : 200, object);
        return;
      }
      default: {
        const body = await exchange.readObject();
        // Options in the query count only where there is no body.
        const asked = body ?? deletionQueryOf(query);
        const options = deletionOptionsOf(asked);
        const deleting = withDryRun(asked, context);
        if (name === '') {
          const items = await operations.deleteCollection(type, listQueryOf(query, namespace), options, deleting);
          answer(200, representation.list(items, { resourceVersion: String(operations.revision()) }));
          return;
        }
        const { object, gone } = await gate.perform(info, () => operations.delete(target, options, deleting));
        const asStatus = gone && !RETURNED_WHEN_GONE.has(type.storage);
        const details = {
          name,
          ...(type.group === '' ? {} : { group: type.group }),
          kind: type.plural,
          uid: object.metadata.uid,
        };
        answer(200, asStatus ? successStatus(details) : object);
      }
    }
  };

  return async (exchange, route, caller) => {
    const type = registry.find(route.group, route.version, route.plural);
    if (type === undefined) throw unknownResource();
    const { namespace, name, subresource } = route;
    const verb = verbOf(exchange, name, subresource);
    if (verb === undefined || (subresource === '' && !type.verbs.includes(verb))) throw methodNotServed();
    if (subresource !== '' && !type.subresources.includes(subresource)) throw unknownResource();
    if (type.namespaced && namespace === undefined && !['list', 'watch', 'deletecollection'].includes(verb)) {
      throw badRequest(
        `an empty namespace may not be set when a resource name is provided (${qualifiedResource(type)})`,
      );
    }
    const isListing = verb === 'list' || verb === 'watch';
    if (type.customResource !== true) checkRoute(exchange.header('accept'), isListing);
    const info: RequestInfo = {
      caller,
      verb,
      type,
      namespace: type.namespaced ? namespace : undefined,
      name,
      selectedName: isListing ? selectedNameOf(exchange.query.get('fieldSelector') ?? undefined) : undefined,
      subresource,
      signal: exchange.signal,
    };
    const pending = gate.enter(info);
    if (pending !== undefined) await pending;
    if (['get', 'list', 'watch'].includes(verb)) await read(exchange, info);
    else await write(exchange, info);
  };
}

/** Answers with the failure's Status, or breaks the connection where a fault says so. */
export function sendFailure(exchange: Exchange, error: unknown): void {
  if (error instanceof ConnectionDropped) {
    exchange.drop();
    return;
  }
  if (exchange.signal.aborted) return;
  const failure =
    error instanceof KubeError ? error : internalError(error instanceof Error ? error.message : String(error));
  const { status } = failure;
  const retryAfter =
    failure.retryAfterMillis === undefined
      ? {}
      : { 'retry-after': String(Math.ceil(failure.retryAfterMillis / 1_000)) };
  const contentType = plainMediaType(exchange.header('accept')) ?? 'application/json';
  exchange.send(failure.httpStatus, isObject(status) ? status : failure.message, {
    'content-type': contentType,
    ...retryAfter,
  });
}

function verbOf({ method, query }: Exchange, name: string, subresource: string): string | undefined {
  switch (method) {
    case 'GET':
    case 'HEAD':
      if (name !== '') return 'get';
      return isTrue(query.get('watch')) ? 'watch' : 'list';
    case 'POST':
      return name !== '' && subresource === '' ? undefined : 'create';
    case 'PUT':
      return name === '' ? undefined : 'update';
    case 'PATCH':
      return name === '' ? undefined : 'patch';
    case 'DELETE':
      return name === '' ? 'deletecollection' : 'delete';
    default:
      return undefined;
  }
}
