/** The Kubernetes API over the network: implements the port {@link KubeApi} for a {@link Connection}. */

import type { KubeObject } from '../api/core.ts';
import type { CallOptions, KubeApi, ListOptions, ListPage, WatchEvent } from '../api/kube-api.ts';
import { isNotFound } from '../api/kube-error.ts';
import { apiVersionOf, type ResourceType } from '../api/resources.ts';
import type { Clock } from '../lib/clock.ts';
import { isRecord } from '../lib/is-record.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import type { Connection } from './connection.ts';
import { type Deadline, startDeadline } from './deadline.ts';
import { discoveredResources } from './discovery.ts';
import { createListSplitter, MalformedAnswerError, parseJson, readJsonLines } from './json-stream.ts';
import { createRateLimiter, defaultRateLimits, type RateLimits } from './rate-limiter.ts';
import { isStatus, readBody, readChunks } from './read-answer.ts';
import {
  collectionPath,
  deleteBody,
  listQuery,
  objectPath,
  patchContentTypes,
  resourcePath,
  watchQuery,
  withQuery,
  writeQuery,
} from './request-path.ts';
import { type Call, createRequester, type RequestSample } from './requester.ts';
import { createTransport } from './transport/create-transport.ts';
import type { TlsMaterial, Transport, TransportResponse } from './transport/transport.ts';

/** One per process: its connections, rate limit and credentials are shared by all that read and write. */
export interface KubeClient extends KubeApi {
  listEach: NonNullable<KubeApi['listEach']>;
  /** GET of any path, such as `/version` or a metrics API; resolves to the JSON it answers. */
  getJson(path: string, options?: CallOptions): Promise<unknown>;
  /** Ends all connections; calls under way fail. */
  close(): void;
}

export interface KubeClientOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly limits?: Partial<RateLimits>;
  /** Default `stowage`. Seen in the API server's audit log and metrics. */
  readonly userAgent?: string;
  /** Told of each attempt, for metrics. */
  readonly onRequest?: (sample: RequestSample) => void;
  /** Replaces the network, in tests. */
  readonly transport?: Transport;
}

/** For one object: longer than any admission webhook may take (30 s is the API server's bound for all of them). */
const CALL_DEADLINE_MILLIS = 35_000;
/**
 * For the first part of a page of a list, and then for each that follows: on a slow line a page of 500 pods takes
 * minutes, and one that is given up before its end comes no sooner the next time.
 */
const LIST_SILENCE_MILLIS = 60_000;
/** Below the deadline of a call: the last answer is then an answer and no timeout. */
const THROTTLE_BUDGET_MILLIS = 15_000;
/** Where a watch names no timeout, the API server picks one of 30 to 60 minutes. */
const DEFAULT_WATCH_SECONDS = 3_600;
/** Beyond the server's own end of the watch. */
const WATCH_SILENCE_GRACE_MILLIS = 10_000;

/**
 * Opens nothing before the first request. Every method rejects with KubeError for what the API server answers, with
 * ConnectionError or RequestTimeoutError where there is no answer, and with the signal's reason when it aborts.
 */
export function createKubeApi(options: KubeClientOptions): KubeClient {
  const { connection, clock, random, log, limits, userAgent = 'stowage', onRequest } = options;
  const transport = options.transport ?? transportTo(connection, clock);
  const limiter = createRateLimiter({ ...defaultRateLimits, ...limits }, clock);
  const send = createRequester({
    connection,
    transport,
    limiter,
    clock,
    random,
    log,
    userAgent,
    ...(onRequest && { onRequest }),
  });

  type Request = Pick<Call, 'method' | 'path' | 'body'> & {
    readonly deadlineMillis?: number;
    readonly lane?: Call['lane'];
  };

  const exchange = async <Result>(
    request: Request,
    call: CallOptions,
    read: (response: TransportResponse, deadline: Deadline) => Promise<Result>,
  ): Promise<Result> => {
    const { method, path, body, deadlineMillis = CALL_DEADLINE_MILLIS, lane = 'control' } = request;
    const deadline = startDeadline(clock, deadlineMillis, `${method} ${path}`, call.signal);
    try {
      const response = await send({
        method,
        path,
        lane: call.lane ?? lane,
        signal: deadline.signal,
        throttleBudgetMillis: THROTTLE_BUDGET_MILLIS,
        ...(body !== undefined && { body }),
      });
      return await read(response, deadline);
    } finally {
      deadline.end();
    }
  };

  const json = (request: Request, call: CallOptions): Promise<unknown> =>
    exchange(request, call, async (response, { signal }) => parseJson(await readBody(response, signal)));

  const object = async <T extends KubeObject>(request: Request, call: CallOptions): Promise<T> => {
    const value = await json(request, call);
    if (!isRecord(value))
      throw new MalformedAnswerError(`${request.method} ${request.path} did not answer with an object.`);
    // The server vouches for the type: it validated the object against the type's schema.
    return value as T;
  };

  const listEach = async <T extends KubeObject>(
    type: ResourceType<T>,
    list: ListOptions,
    onItem: (item: T) => void,
  ): Promise<Omit<ListPage<T>, 'items'>> => {
    const path = withQuery(resourcePath(type, { namespace: list.namespace }), listQuery(list));
    // Items of built-in lists come without these two, everything else with them; callers need not know.
    const identity = { apiVersion: apiVersionOf(type), kind: type.kind };
    return await exchange(
      { method: 'GET', path, lane: 'bulk', deadlineMillis: LIST_SILENCE_MILLIS },
      list,
      async (response, { signal, prolong }) => {
        const splitter = createListSplitter((item) => onItem({ ...identity, ...(item as T) }));
        for await (const chunk of readChunks(response, signal)) {
          prolong();
          splitter.write(chunk);
        }
        return listMetadata(splitter.end(), path);
      },
    );
  };

  return {
    listEach,
    getJson: (path, call = {}) => json({ method: 'GET', path }, call),
    async discover(apiVersion, call = {}) {
      const path = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
      try {
        return discoveredResources(await json({ method: 'GET', path }, call));
      } catch (error) {
        if (isNotFound(error)) return [];
        throw error;
      }
    },
    get: async (type, name, call = {}) =>
      await object({ method: 'GET', path: objectPath(type, name, { namespace: call.namespace }) }, call),
    async list(type, list = {}) {
      const items: NonNullable<(typeof type)['objectType']>[] = [];
      const end = await listEach(type, list, (item) => items.push(item));
      return { ...end, items };
    },
    async create(type, body, call = {}) {
      const path = collectionPath(type, call.namespace ?? body.metadata?.namespace);
      // Custom resources must say what they are, built-in ones may.
      const named = { apiVersion: apiVersionOf(type), kind: type.kind, ...body };
      return await object({ method: 'POST', path: withQuery(path, writeQuery(call)), body: jsonBody(named) }, call);
    },
    async createSubresource(type, name, subresource, body, call = {}) {
      const path = objectPath(type, name, { namespace: call.namespace, subresource });
      return await object({ method: 'POST', path: withQuery(path, writeQuery(call)), body: jsonBody(body) }, call);
    },
    async replace(type, body, call = {}) {
      const { name, namespace } = body.metadata ?? {};
      const path = objectPath(type, name, { namespace: call.namespace ?? namespace, subresource: call.subresource });
      return await object({ method: 'PUT', path: withQuery(path, writeQuery(call)), body: jsonBody(body) }, call);
    },
    async patch(type, name, patch, call = {}) {
      const path = objectPath(type, name, { namespace: call.namespace, subresource: call.subresource });
      // Server-side apply requires a manager; its force is refused by the other kinds of patch.
      const query =
        patch.type === 'apply'
          ? {
              ...writeQuery(call),
              fieldManager: call.fieldManager ?? userAgent,
              force: patch.force === true ? true : undefined,
            }
          : writeQuery(call);
      const body = { contentType: patchContentTypes[patch.type], value: patch.body };
      return await object({ method: 'PATCH', path: withQuery(path, query), body }, call);
    },
    async delete(type, name, call = {}) {
      const path = objectPath(type, name, { namespace: call.namespace });
      await json({ method: 'DELETE', path, body: jsonBody(deleteBody(call)) }, call);
    },
    async *watch<T extends KubeObject>(type: ResourceType<T>, watch: Parameters<KubeApi['watch']>[1] = {}) {
      const path = withQuery(resourcePath(type, { namespace: watch.namespace }), watchQuery(watch));
      // No deadline here: the reader's signal, the server's own timeout and the transport's health check bound a watch.
      const deadline = startDeadline(clock, undefined, `watch ${path}`, watch.signal);
      try {
        const response = await send({
          method: 'GET',
          path,
          lane: watch.lane ?? 'bulk',
          signal: deadline.signal,
          throttleBudgetMillis: 0,
          maxSilenceMillis: (watch.timeoutSeconds ?? DEFAULT_WATCH_SECONDS) * 1000 + WATCH_SILENCE_GRACE_MILLIS,
        });
        watch.onOpen?.();
        for await (const line of readJsonLines(readChunks(response, deadline.signal))) yield toWatchEvent<T>(line);
      } finally {
        deadline.end();
      }
    },
    close: () => transport.close(),
  };
}

function transportTo(connection: Connection, clock: Clock): Transport {
  const material = async (): Promise<TlsMaterial> => {
    const [trust, credentials] = await Promise.all([connection.trust.current(), connection.credentials.current()]);
    const { certificate, privateKey } = credentials;
    return { ...trust, ...(certificate !== undefined && privateKey !== undefined && { certificate, privateKey }) };
  };
  const { server, proxy, trust } = connection;
  return createTransport({ server, material, onUntrusted: trust.invalidate, clock, ...(proxy && { proxy }) });
}

const jsonBody = (value: object): NonNullable<Call['body']> => ({ contentType: 'application/json', value });

function listMetadata(list: unknown, path: string): { resourceVersion: string; continueToken?: string } {
  const metadata = isRecord(list) ? list['metadata'] : undefined;
  if (!isRecord(metadata)) throw new MalformedAnswerError(`GET ${path} did not answer with a list.`);
  const { resourceVersion = '', continue: continueToken } = metadata;
  return {
    resourceVersion: String(resourceVersion),
    ...(typeof continueToken === 'string' && continueToken !== '' && { continueToken }),
  };
}

function toWatchEvent<T extends KubeObject>(line: unknown): WatchEvent<T> {
  if (isRecord(line) && isRecord(line['object'])) {
    const { type, object } = line;
    if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') return { type, object: object as T };
    if (type === 'BOOKMARK') return { type, object };
    if (type === 'ERROR')
      return { type, object: isStatus(object) ? object : { kind: 'Status', message: JSON.stringify(object) } };
  }
  throw new MalformedAnswerError('A line of a watch is not a watch event.');
}
