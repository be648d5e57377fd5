/** One HTTP exchange with a usage source: TLS verified, redirects not followed, bounded in time and size. */
import type { Agent, IncomingMessage } from 'node:http';
import https from 'node:https';
import { hostOf, KEEPALIVE_MILLIS, portOf, tlsOptions } from '../../kube/transport/dial.ts';
import { connectThrough } from '../../kube/transport/proxied-agent.ts';
import { ConnectionError } from '../../kube/transport/transport.ts';
import type { Clock } from '../../lib/clock.ts';
import { describeError } from '../../lib/errors.ts';
import { http } from '../../lib/node-http.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { SourceProxy } from './source-proxy.ts';
import type { UsageProblem } from './usage-source.ts';

/** Headers may hold secrets: they are never logged, nor told in a problem. */
export interface HttpCall {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Whatever was said in time and within the size, or why there is nothing. */
export type HttpAnswer =
  | { readonly ok: true; readonly status: number; readonly body: Buffer }
  | { readonly ok: false; readonly problem: UsageProblem };

/** Connections are kept between calls, by server and authority. */
export interface HttpExchange {
  /**
   * Sends and reads to the end. Any status but a redirect is an answer.
   * @param ca PEM; left out, the machine's own trust store.
   * @returns rejects only with the signal's reason.
   */
  send(call: HttpCall, ca: string | undefined, signal: AbortSignal): Promise<HttpAnswer>;
  close(): void;
}

export interface HttpExchangeOptions {
  readonly clock: Clock;
  /** For all of it: name, connection, TLS, answer. */
  readonly timeoutMillis: Millis;
  /** Longer answers are cut off and told as `TooLarge`. */
  readonly maxBytes: number;
  /** Default: every server is asked directly. */
  readonly proxyOf?: SourceProxy | undefined;
}

/** A server that nobody asks any more: policies that name it were changed, or are gone. Turns come more often than that. */
const UNASKED_MILLIS: Millis = 1_800_000;
/** To one server at a time; further requests wait for a socket, within their timeout. */
const MAX_SOCKETS = 8;

export function createHttpExchange(options: HttpExchangeOptions): HttpExchange {
  /** One for each origin and authority: TLS sessions are not shared across authorities. */
  const agents = new Map<string, { readonly agent: Agent; askedAt: EpochMillis }>();

  /** Connections of one server are not shared across authorities: whom to trust is part of what they are. */
  const agentFor = (url: URL, ca: string | undefined): Agent => {
    const key = `${url.origin} ${ca ?? ''}`;
    const now = options.clock.now();
    const known = agents.get(key);
    if (known !== undefined) {
      known.askedAt = now;
      return known.agent;
    }
    // An authority that was replaced needs its connections no more, nor does a server that is not asked. Those in use go
    // on: the other authority may be that of another policy, and tenants must not cut each other off.
    for (const [other, { agent, askedAt }] of agents) {
      const isReplaced = other.startsWith(`${url.origin} `) || now - askedAt >= UNASKED_MILLIS;
      if (!isReplaced || isInUse(agent)) continue;
      agent.destroy();
      agents.delete(other);
    }
    const common = { keepAlive: true, keepAliveMsecs: KEEPALIVE_MILLIS, maxSockets: MAX_SOCKETS, maxFreeSockets: 2 };
    const material = ca === undefined ? {} : { ca };
    const agent =
      url.protocol === 'http:'
        ? new http.Agent(common)
        : new https.Agent({ ...common, ...tlsOptions(url, material), ALPNProtocols: ['http/1.1'] });
    const proxy = options.proxyOf?.(url);
    if (proxy !== undefined && agent instanceof https.Agent)
      connectThrough(agent, { server: url, name: 'the source', material, clock: options.clock, proxy });
    agents.set(key, { agent, askedAt: now });
    return agent;
  };

  return {
    async send(call, ca, signal) {
      signal.throwIfAborted();
      const isTimedOut = { value: false };
      const own = new AbortController();
      const onAbort = (): void => own.abort();
      signal.addEventListener('abort', onAbort, { once: true });
      const timer = options.clock.setTimer(options.timeoutMillis, () => {
        isTimedOut.value = true;
        own.abort();
      });
      try {
        return await exchange(call, agentFor(call.url, ca), options.maxBytes, own.signal);
      } catch (error) {
        signal.throwIfAborted();
        return { ok: false, problem: problemOf(error, call.url, isTimedOut.value, options.timeoutMillis) };
      } finally {
        timer.cancel();
        signal.removeEventListener('abort', onAbort);
      }
    },
    close() {
      for (const { agent } of agents.values()) agent.destroy();
      agents.clear();
    },
  };
}

/** A request is under way on one of its connections, or waits for one. */
function isInUse({ sockets, requests }: Agent): boolean {
  return Object.keys(sockets).length + Object.keys(requests).length > 0;
}

class TooLargeError extends Error {
  override readonly name = 'TooLargeError';
}

function exchange(call: HttpCall, agent: Agent, maxBytes: number, signal: AbortSignal): Promise<HttpAnswer> {
  const { url, method, headers, body } = call;
  return new Promise((resolve, reject) => {
    const open = url.protocol === 'http:' ? http.request : https.request;
    const outgoing = open({
      agent,
      signal,
      host: hostOf(url),
      port: portOf(url),
      method,
      path: `${url.pathname}${url.search}`,
      headers: { ...headers, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) },
    });
    outgoing.on('error', reject);
    outgoing.on('response', (incoming) => {
      readAll(incoming, maxBytes).then(
        (content) => resolve(answerOf(incoming, content, url)),
        (error: unknown) => {
          outgoing.destroy();
          reject(error);
        },
      );
    });
    outgoing.end(body);
  });
}

/** @throws TooLargeError as soon as it is too long, and not at its end. */
async function readAll(incoming: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming) {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    size += bytes.length;
    if (size > maxBytes) throw new TooLargeError(`more than ${maxBytes >> 20} MiB`);
    chunks.push(bytes);
  }
  if (!incoming.complete) throw new Error('the connection was cut during the answer');
  return Buffer.concat(chunks);
}

function answerOf(incoming: IncomingMessage, body: Buffer, url: URL): HttpAnswer {
  const status = incoming.statusCode ?? 0;
  if (status < 300 || status >= 400) return { ok: true, status, body };
  const message = `${shown(url)} answers with a redirect (HTTP ${status}), which is not followed: give the address it leads to, which must be allowed, too`;
  return { ok: false, problem: { reason: 'Rejected', message } };
}

function problemOf(error: unknown, url: URL, isTimedOut: boolean, timeoutMillis: Millis): UsageProblem {
  if (isTimedOut) {
    const message = `${shown(url)} did not answer within ${timeoutMillis / 1000} s: it may be overloaded; raise the timeout or ask for a shorter window`;
    return { reason: 'TimedOut', message };
  }
  if (error instanceof TooLargeError) {
    const message = `${shown(url)} answered with ${error.message}: ask for a shorter window or a longer step`;
    return { reason: 'TooLarge', message };
  }
  const isUntrusted = /CERT|ISSUER|SIGNATURE|SELF_SIGNED/.test(codeOf(error));
  const advice = isUntrusted
    ? 'its certificate is not trusted; give the authority that signed it (caSecretRef, or the CA file of the operator)'
    : 'check the address, that it is up, and that network policies let the operator reach it';
  return { reason: 'Unreachable', message: `${shown(url)} cannot be reached: ${describeError(error)}; ${advice}` };
}

/** Without query and user: both may hold secrets. */
export const shown = (url: URL): string => `${url.origin}${url.pathname}`;

function codeOf(error: unknown): string {
  // Through a proxy, what became of the connection is the cause.
  const reason = error instanceof ConnectionError ? error.cause : error;
  return reason instanceof Error && 'code' in reason && typeof reason.code === 'string' ? reason.code : '';
}
