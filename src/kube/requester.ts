/**
 * Sends one request until it has an answer worth giving to the caller: rate limit, credentials, and the safe retries.
 */
import { isThrottled, isUnauthorized, type KubeError } from '../api/kube-error.ts';
import { type BackoffPolicy, backoffDelay } from '../lib/backoff.ts';
import { type Clock, sleep } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import { untilAborted } from '../lib/until-aborted.ts';
import { type Connection, type Credentials, impersonationHeaders } from './connection.ts';
import type { Line, RateLimiter } from './rate-limiter.ts';
import { readError } from './read-answer.ts';
import {
  ConnectionError,
  type Transport,
  type TransportRequest,
  type TransportResponse,
} from './transport/transport.ts';

/** One request of the client, which may become several on the wire. */
export interface Call extends Pick<TransportRequest, 'method' | 'path' | 'signal' | 'maxSilenceMillis'> {
  /** Where it stands in line for the rate limit; leases share the connection of `control`. */
  readonly lane: Line;
  /** Sent as JSON with this content type. */
  readonly body?: { readonly contentType: string; readonly value: object };
  /** How long the call may wait in total for "come back later" answers; 0 hands the first one to the caller. */
  readonly throttleBudgetMillis: number;
}

/** One attempt, for metrics. */
export interface RequestSample {
  readonly method: string;
  readonly lane: 'bulk' | 'control';
  /** HTTP status, 0 when there was no answer. */
  readonly status: number;
  /** From sending to the head of the answer. */
  readonly durationMillis: number;
  /** Time spent waiting for the client-side rate limit before. */
  readonly throttledMillis: number;
}

export interface RequesterOptions {
  readonly connection: Connection;
  readonly transport: Transport;
  readonly limiter: RateLimiter;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly userAgent: string;
  readonly onRequest?: (sample: RequestSample) => void;
}

/** Attempts of one call over a connection that breaks, the first included. */
const MAX_CONNECTION_ATTEMPTS = 3;
const MAX_THROTTLED_ATTEMPTS = 5;
const reconnectPolicy: BackoffPolicy = { initialMillis: 50, factor: 4, maxMillis: 1_000, jitter: 1 };

/**
 * @returns a function that resolves to a successful answer, and rejects with KubeError, ConnectionError or the signal's
 * reason.
 */
export function createRequester(options: RequesterOptions): (call: Call) => Promise<TransportResponse> {
  const { connection, transport, limiter, clock, random, log, userAgent, onRequest } = options;
  const prefix = connection.server.pathname.replace(/\/$/, '');
  const impersonation = impersonationHeaders(connection.impersonation);

  const attempt = async (call: Call, credentials: Credentials, queuedMillis: number): Promise<TransportResponse> => {
    const { token } = credentials;
    const sentMillis = clock.now();
    const lane = call.lane === 'bulk' ? 'bulk' : 'control';
    const report = (status: number): void =>
      onRequest?.({
        method: call.method,
        lane,
        status,
        durationMillis: clock.now() - sentMillis,
        throttledMillis: sentMillis - queuedMillis,
      });
    try {
      const response = await transport.request({
        method: call.method,
        path: prefix + call.path,
        lane,
        signal: call.signal,
        headers: {
          accept: 'application/json',
          'user-agent': userAgent,
          ...impersonation,
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(call.body !== undefined && { 'content-type': call.body.contentType }),
        },
        ...(call.body !== undefined && { body: JSON.stringify(call.body.value) }),
        ...(call.maxSilenceMillis !== undefined && { maxSilenceMillis: call.maxSilenceMillis }),
      });
      report(response.status);
      return response;
    } catch (error) {
      report(0);
      throw error;
    }
  };

  return async (call) => {
    let connectionAttempts = 0;
    let throttledAttempts = 0;
    let throttledMillis = 0;
    let hasNewCredentials = false;
    for (;;) {
      const queuedMillis = clock.now();
      await limiter.acquire(call.lane, call.signal);
      // A credential plugin may hang; a lease that has to be renewed must not hang with it.
      const credentials = await untilAborted(connection.credentials.current(), call.signal);
      let response: TransportResponse;
      try {
        response = await attempt(call, credentials, queuedMillis);
      } catch (error) {
        connectionAttempts++;
        if (!isSafeToResend(error, call) || connectionAttempts >= MAX_CONNECTION_ATTEMPTS) throw error;
        log.debug({ method: call.method, path: call.path, error }, 'The connection broke; sending again');
        await sleep(clock, backoffDelay(reconnectPolicy, connectionAttempts, random), call.signal);
        continue;
      }
      if (response.status < 300) return response;
      const error = await readError(response, call.signal, clock.now());
      if (isUnauthorized(error) && !hasNewCredentials) {
        hasNewCredentials = true;
        connection.credentials.invalidate(credentials);
        continue;
      }
      const waitMillis = throttleWait(error, call);
      throttledAttempts++;
      if (waitMillis === undefined || throttledAttempts >= MAX_THROTTLED_ATTEMPTS) throw error;
      throttledMillis += waitMillis;
      if (throttledMillis > call.throttleBudgetMillis) throw error;
      log.debug({ method: call.method, path: call.path, waitMillis }, 'The API server asked to come back later');
      await sleep(clock, waitMillis, call.signal);
    }
  };
}

/** Only reads, and requests the server certainly did not act on: a second POST could create, evict or resize twice. */
function isSafeToResend(error: unknown, call: Call): boolean {
  return error instanceof ConnectionError && (error.isUnprocessed || call.method === 'GET') && !call.signal.aborted;
}

/**
 * Milliseconds to wait before asking again; undefined when asking again is not for us to decide. A 429 is refused
 * before anything is done (API priority and fairness), so any method may be repeated; a 503 may come from something in
 * between, so only reads are. Both only with Retry-After. An eviction refused by a PodDisruptionBudget is not
 * throttling.
 */
function throttleWait(error: KubeError, call: Call): number | undefined {
  if (!isThrottled(error) || error.retryAfterMillis === undefined) return undefined;
  if (error.httpStatus === 503 && call.method !== 'GET') return undefined;
  return error.retryAfterMillis;
}
