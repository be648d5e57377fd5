/**
 * HTTPS for the admission webhook: bounds on what is read, certificates swapped in place, and an orderly end. Whoever
 * reaches the port may send anything: a webhook that hangs or falls over stops the pods of a whole cluster (bug 31).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { Duplex } from 'node:stream';
import type { Clock } from '../lib/clock.ts';
import { listen } from '../lib/listen.ts';
import type { Logger } from '../lib/log.ts';
import { trackSockets } from '../lib/open-sockets.ts';
import { servingContext } from '../lib/serving-context.ts';
import type { Millis } from '../lib/units.ts';
import { type HttpAnswer, problemAnswer } from './http-answer.ts';

/**
 * Answers one POST to `/mutate`, or to another path that is served. May reject; that is answered as an error of ours.
 * @param isForwarded another replica asks: it must not be sent on once more.
 */
export type BodyHandler = (body: string, isForwarded: boolean) => HttpAnswer | Promise<HttpAnswer>;

/** Set on requests that one replica sends to another. */
export const FORWARDED_HEADER = 'x-stowage-forwarded';

/** PEM texts of the served leaf (with intermediates) and its key. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

export interface WebhookServer {
  /** The port that is listened on. */
  readonly port: number;
  /** New connections use this certificate from now on; open ones go on. @throws when the pair does not fit together. */
  setKeyPair(pair: KeyPair): void;
  /** Ends: what is in flight is answered, and every answer asks for another connection. */
  drain(patience: DrainPatience): Promise<void>;
}

/** An end in two steps: endpoints are taken out of the Service some time after the pod is told to end, never before. */
export interface DrainPatience {
  /** For so long new connections are taken all the same: who opens them does not know yet. Default 0. */
  readonly delayMillis?: Millis;
  /** From then on what is in flight has so long. */
  readonly graceMillis: Millis;
}

export interface WebhookServerOptions {
  /** 0 takes any free port. */
  readonly port: number;
  /** Default: all addresses. */
  readonly host?: string;
  readonly keyPair: KeyPair;
  readonly handle: BodyHandler;
  /** Further paths, e.g. `/validate-optimizationpolicy`. */
  readonly also?: Readonly<Record<string, BodyHandler>> | undefined;
  /** Bytes of bodies held at once; beyond, requests are answered 503. Default 64 MiB. */
  readonly maxHeldBytes?: number;
  /** Connections that wait for a next request. Default 1,500. */
  readonly maxIdle?: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Reviews carry at most the old and the new object; etcd takes 1.5 MiB of each. */
const MAX_BODY_BYTES = 3 * 1024 * 1024;
/**
 * Whoever reaches the port may send bodies: all together they must not cost the process its memory. A burst of 1,000
 * pods of 20 KiB takes a third of it.
 */
const MAX_HELD_BYTES = 64 * 1024 * 1024;
/** Longer than the API server's idle connections live (90 s), so that it is never us who closes one just being used. */
const KEEP_ALIVE_MILLIS = 120_000;
/**
 * Node counts the time of the first request from the opening of the connection. In a burst an API server opens more
 * than it needs and uses them later: ended sooner, they would fail the admissions that are being sent on them (it does
 * not send a POST again).
 */
export const connectionLimits = {
  keepAliveTimeout: KEEP_ALIVE_MILLIS,
  headersTimeout: KEEP_ALIVE_MILLIS,
  requestTimeout: KEEP_ALIVE_MILLIS,
} as const;
/** Of a connection that speaks no TLS, or not to the end: an API server gives up its own after 10 s (client-go). */
const HANDSHAKE_MILLIS: Millis = 15_000;
/**
 * For a body, from its head on. API servers send it at once; who sends one byte after the other, or ends none, holds what
 * the others may need.
 */
const BODY_MILLIS: Millis = 10_000;
/**
 * Connections on which nothing is being asked; beyond, the one that has been so the longest is ended. Each takes 60 KB,
 * of which a few thousand would end the process. API servers keep 25 each, and open some hundred more in a burst.
 */
const MAX_IDLE = 1_500;
/**
 * How long a connection on which nothing was ever asked is kept while draining. An API server opens more than it needs
 * in a burst and keeps them for later; Node does not count those as idle.
 */
const UNUSED_MILLIS = 500;

/**
 * Resolves when the port is open. @throws StowageError (BIND) when it cannot be opened; whatever Node says of a key
 * pair that cannot be used.
 */
export async function startWebhookServer(options: WebhookServerOptions): Promise<WebhookServer> {
  const { keyPair, maxIdle = MAX_IDLE, clock, log } = options;
  const held = createBudget(options.maxHeldBytes ?? MAX_HELD_BYTES);
  const handlers = new Map(Object.entries({ '/mutate': options.handle, ...options.also }));
  let isDraining = false;
  /** The one that has been so the longest first. */
  const idle = new Set<Duplex>();
  /** Of each connection, the answer to its last request: the next one may come before the answer to the one before is out. */
  const last = new WeakMap<Duplex, ServerResponse>();
  const rest = (socket: Duplex): void => {
    if (socket.destroyed) return;
    idle.add(socket);
    const [longest] = idle;
    if (idle.size <= maxIdle || longest === undefined) return;
    // Not when it has closed: of a burst, all may come before.
    idle.delete(longest);
    longest.destroy();
  };

  const server = createServer(
    {
      ...servingContext(keyPair),
      ...connectionLimits,
      handshakeTimeout: HANDSHAKE_MILLIS,
    },
    (request, response) => {
      const { socket } = request;
      idle.delete(socket);
      last.set(socket, response);
      response.once('close', () => {
        if (last.get(socket) === response) rest(socket);
      });
      const send = (answer: HttpAnswer): void => {
        if (response.headersSent || response.destroyed) return;
        // A body that was refused unread cannot be skipped: the connection ends with it.
        if (isDraining || !request.complete) response.setHeader('Connection', 'close');
        write(response, answer);
      };
      answerRequest(request, handlers, { held, clock }).then(send, (error: unknown) => {
        log.error({ error }, 'A webhook request failed');
        send(problemAnswer(500, 'INTERNAL', 'the request could not be answered'));
      });
    },
  );
  const sockets = trackSockets(server);
  server.on('secureConnection', (socket) => {
    socket.once('close', () => idle.delete(socket));
    rest(socket);
  });
  server.on('tlsClientError', (error) => log.debug({ error }, 'A TLS handshake failed'));
  server.on('clientError', (_, socket) => socket.destroy());

  const port = await listen(server, options, 'webhook');
  server.on('error', (error) => log.error({ error }, 'The webhook server failed'));

  return {
    port,
    setKeyPair: (pair) => server.setSecureContext(servingContext(pair)),
    async drain({ delayMillis = 0, graceMillis }) {
      isDraining = true;
      if (delayMillis > 0) await new Promise<void>((resolve) => void clock.setTimer(delayMillis, resolve));
      const timers = [
        clock.setTimer(graceMillis, sockets.destroyAll),
        clock.setTimer(Math.min(UNUSED_MILLIS, graceMillis), () => {
          for (const socket of idle) socket.destroy();
        }),
      ];
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      });
      for (const timer of timers) timer.cancel();
    },
  };
}

/** Takes from what all requests share; false when there is not so much left. */
interface Budget {
  take(amount: number): boolean;
  giveBack(amount: number): void;
}

function createBudget(limit: number): Budget {
  let taken = 0;
  return {
    take(amount) {
      if (taken + amount > limit) return false;
      taken += amount;
      return true;
    },
    giveBack(amount) {
      taken -= amount;
    },
  };
}

async function answerRequest(
  request: IncomingMessage,
  handlers: ReadonlyMap<string, BodyHandler>,
  { held, clock }: { readonly held: Budget; readonly clock: Clock },
): Promise<HttpAnswer> {
  const [path = ''] = (request.url ?? '').split('?', 1);
  const handle = handlers.get(path);
  if (handle === undefined)
    return problemAnswer(404, 'NOT_FOUND', `only ${[...handlers.keys()].join(' and ')} is served here`);
  if (request.method !== 'POST')
    return { ...problemAnswer(405, 'METHOD_NOT_ALLOWED', 'send a POST'), headers: { Allow: 'POST' } };
  const mediaType = (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
  if (mediaType !== 'application/json') {
    return problemAnswer(400, 'INVALID_CONTENT_TYPE', 'the Content-Type must be application/json');
  }
  let bytes = 0;
  const hold = (more: number): boolean => {
    if (!held.take(more)) return false;
    bytes += more;
    return true;
  };
  try {
    const read = await readBody(request, hold, clock);
    switch (read.kind) {
      case 'too-large':
        return problemAnswer(413, 'REQUEST_BODY_TOO_LARGE', `the body is larger than ${MAX_BODY_BYTES} bytes`);
      case 'too-slow':
        return problemAnswer(408, 'REQUEST_TIMEOUT', `the body did not come within ${BODY_MILLIS / 1000} s`);
      case 'no-room':
        return problemAnswer(503, 'BUSY', 'too many requests are being read; send it again');
      default:
        return await handle(read.body, request.headers[FORWARDED_HEADER] !== undefined);
    }
  } finally {
    held.giveBack(bytes);
  }
}

type ReadBody =
  | { readonly kind: 'complete'; readonly body: string }
  | { readonly kind: 'too-large' | 'too-slow' }
  /** `hold` refused: what the other requests hold leaves no room for this one. */
  | { readonly kind: 'no-room' };

/** The body as text, or as soon as it is known why it cannot be read. Rejects when the client goes away. */
function readBody(request: IncomingMessage, hold: (bytes: number) => boolean, clock: Clock): Promise<ReadBody> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return Promise.resolve({ kind: 'too-large' });
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const refuse = (kind: Exclude<ReadBody['kind'], 'complete'>): void => {
      timer.cancel();
      request.pause();
      request.removeAllListeners('data');
      resolve({ kind });
    };
    const timer = clock.setTimer(BODY_MILLIS, () => refuse('too-slow'));
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_BODY_BYTES) refuse('too-large');
      else if (!hold(chunk.length)) refuse('no-room');
      else chunks.push(chunk);
    });
    request.on('end', () => {
      timer.cancel();
      resolve({ kind: 'complete', body: Buffer.concat(chunks).toString('utf8') });
    });
    request.on('error', reject);
    request.on('close', () => {
      timer.cancel();
      reject(new Error('the client closed the connection'));
    });
  });
}

function write(response: ServerResponse, { status, body, headers }: HttpAnswer): void {
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    ...headers,
  });
  response.end(body);
}
