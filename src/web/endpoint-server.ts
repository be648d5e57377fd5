/** A small read-only HTTP or HTTPS server: health, metrics and explanations, a function a path. */
import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import https from 'node:https';
import { pipeline } from 'node:stream/promises';
import type { BindAddress } from '../config/config-key.ts';
import type { Clock } from '../lib/clock.ts';
import { listen } from '../lib/listen.ts';
import type { Logger } from '../lib/log.ts';
import { http } from '../lib/node-http.ts';
import { trackSockets } from '../lib/open-sockets.ts';
import { servingContext } from '../lib/serving-context.ts';
import type { Millis } from '../lib/units.ts';
import { httpDate } from '../lib/utc-text.ts';

export interface EndpointAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
  /** Of this answer alone. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer too large to be made at once: no piece is asked for before the one before it is on its way. */
export interface PiecewiseAnswer extends Omit<EndpointAnswer, 'body'> {
  readonly body: AsyncIterable<string>;
  /** Breaks it off, whether or not who asked takes what was sent. */
  readonly signal?: AbortSignal;
}

export type AnyAnswer = EndpointAnswer | PiecewiseAnswer;

/** Answers a GET of one path. */
export type Endpoint<Answer = EndpointAnswer> = (query: URLSearchParams) => Answer | Promise<Answer>;
/** The same, perhaps without end. `gone` fires when who asked has left, or has been answered. */
export type StreamEndpoint = (query: URLSearchParams, gone: AbortSignal) => AnyAnswer | Promise<AnyAnswer>;

/** Who asks for what. */
export interface AccessRequest {
  readonly path: string;
  /** The header of that name. */
  readonly authorization: string | undefined;
  readonly headers: IncomingHttpHeaders;
}
/** @returns the answer to who may not; undefined lets in. */
export type Authorize = (request: AccessRequest) => Promise<EndpointAnswer | undefined>;

/** A certificate somebody else looks after, PEM. */
export interface ServedCertificate {
  current(): { readonly cert: string; readonly key: string };
  /** Told of each new one. */
  onChange(listener: () => void): void;
}

export interface EndpointServer {
  readonly port: number;
  close(): Promise<void>;
}

export interface EndpointServerOptions {
  /** For log records and the error message, e.g. `metrics`. */
  readonly name: string;
  readonly address: BindAddress;
  /** By path, e.g. `/healthz`. */
  readonly endpoints: Readonly<Record<string, StreamEndpoint>>;
  /** Asked before every endpoint; left out, everybody is let in. */
  readonly authorize?: Authorize | undefined;
  /** Of every answer, besides those that are always there. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Left out, plain HTTP is spoken. */
  readonly certificate?: ServedCertificate | undefined;
  /** Of the header `Date`, for processes that are to be small; left out, Node writes it. */
  readonly clock?: Clock | undefined;
  /** A connection on which nothing moves for so long while it is answered is ended. Default a minute. */
  readonly stuckAfterMillis?: Millis | undefined;
  readonly log: Logger;
}

/**
 * Who takes nothing of an answer for so long has left it lying, and with it the memory of what waits. Streams of events
 * write four times as often.
 */
const STUCK_AFTER: Millis = 60_000;
/** Of a connection that speaks no TLS, or not to the end. */
const HANDSHAKE: Millis = 15_000;

/**
 * Characters of an answer in pieces that wait to be sent; Node's own number, which goes for HTTPS whatever is said, is
 * four times that. Megabytes go through, and what waits through two small collections is old and stays in memory until a
 * large one.
 */
const SENT_AHEAD = 16_384;

/** @throws StowageError (BIND) when the address cannot be listened on. */
export async function startEndpointServer(options: EndpointServerOptions): Promise<EndpointServer> {
  const { name, address, certificate, clock, stuckAfterMillis = STUCK_AFTER, log } = options;
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    if (clock !== undefined) response.setHeader('Date', httpDate(clock.now()));
    for (const [header, value] of Object.entries(options.headers ?? {})) response.setHeader(header, value);
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    answer(request, options, gone.signal)
      .then((given) => send(given, request, response))
      .catch((error: unknown) => {
        // Who asked has gone away.
        if (response.headersSent && request.socket.destroyed) return;
        log.error({ server: name, url: request.url, error }, 'A request could not be answered');
        if (response.headersSent) {
          // What is there must not be taken for the whole.
          response.destroy();
          return;
        }
        response.writeHead(500, { 'Content-Type': 'text/plain; charset=utf-8' });
        response.end('internal error\n');
      });
  };
  const server =
    certificate === undefined
      ? http.createServer({ highWaterMark: SENT_AHEAD }, onRequest)
      : secureServer(certificate, onRequest);
  server.setTimeout(stuckAfterMillis);
  const sockets = trackSockets(server);
  const port = await listen(server, address, name);
  server.on('error', (error) => log.error({ server: name, error }, 'A server failed'));
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // Nothing here takes long, and nobody who asks for metrics must keep the process from ending.
        sockets.destroyAll();
      }),
  };
}

async function send(
  { status, contentType, headers, ...rest }: AnyAnswer,
  { method }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  response.writeHead(status, {
    'Content-Type': contentType,
    ...(typeof rest.body === 'string' && { 'Content-Length': Buffer.byteLength(rest.body) }),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...headers,
  });
  const { body } = rest;
  if (method === 'HEAD') response.end();
  else if (typeof body === 'string') response.end(body);
  else await pipeline(body, response, 'signal' in rest && rest.signal !== undefined ? { signal: rest.signal } : {});
}

function secureServer(certificate: ServedCertificate, onRequest: RequestListener): https.Server {
  const context = servingContext(certificate.current());
  const server = https.createServer({ ...context, handshakeTimeout: HANDSHAKE }, onRequest);
  // Connections that are open keep the one they have.
  certificate.onChange(() => server.setSecureContext(servingContext(certificate.current())));
  return server;
}

export const textAnswer = (status: number, body: string): EndpointAnswer => ({
  status,
  contentType: 'text/plain; charset=utf-8',
  body,
});
export const jsonAnswer = (status: number, value: unknown): EndpointAnswer => ({
  status,
  contentType: 'application/json',
  body: `${JSON.stringify(value)}\n`,
});

async function answer(
  request: IncomingMessage,
  { endpoints, authorize }: Pick<EndpointServerOptions, 'endpoints' | 'authorize'>,
  gone: AbortSignal,
): Promise<AnyAnswer> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return { ...textAnswer(405, 'only GET is served here\n'), headers: { Allow: 'GET, HEAD' } };
  }
  const [path = '', query = ''] = (request.url ?? '').split('?', 2);
  const endpoint = Object.hasOwn(endpoints, path) ? endpoints[path] : undefined;
  if (endpoint === undefined) return textAnswer(404, `not found; served here: ${Object.keys(endpoints).join(' ')}\n`);
  const { headers } = request;
  const refused = await authorize?.({ path, authorization: headers.authorization, headers });
  return refused ?? endpoint(new URLSearchParams(query), gone);
}
