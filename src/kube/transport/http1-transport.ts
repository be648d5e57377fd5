/** HTTP/1.1: for proxies that speak nothing newer, and plain HTTP (`kubectl proxy`). One socket per watch. */
import https from 'node:https';
import type { Clock, Timer } from '../../lib/clock.ts';
import { http } from '../../lib/node-http.ts';
import { hostOf, KEEPALIVE_MILLIS, portOf, tlsOptions } from './dial.ts';
import { connectThrough } from './proxied-agent.ts';
import {
  ConnectionError,
  type TlsMaterial,
  type Transport,
  type TransportRequest,
  type TransportResponse,
} from './transport.ts';

export interface Http1Options {
  readonly server: URL;
  /** Ignored for `http:` servers. */
  readonly material: TlsMaterial;
  readonly clock: Clock;
  /** Ignored for `http:` servers, too. */
  readonly proxy?: URL;
}

export interface Http1Transport extends Transport {
  /** An answer is awaited or read. */
  isInUse(): boolean;
  /** Ends the connections that wait for a next request. */
  drain(): void;
}

/** A connection is lent to one request at a time, so watches take one each and do not hold up anything. */
export function createHttp1Transport(options: Http1Options): Http1Transport {
  const { server, material, clock, proxy } = options;
  const isPlain = server.protocol === 'http:';
  const agentOptions = { keepAlive: true, keepAliveMsecs: KEEPALIVE_MILLIS, maxFreeSockets: 8 };
  const agent = isPlain
    ? new http.Agent(agentOptions)
    : new https.Agent({ ...agentOptions, ...tlsOptions(server, material), ALPNProtocols: ['http/1.1'] });
  if (!isPlain && proxy !== undefined) connectThrough(agent, { server, material, clock, proxy });
  const open = isPlain ? http.request : https.request;

  const send = (request: TransportRequest): Promise<TransportResponse> =>
    new Promise((resolve, reject) => {
      request.signal.throwIfAborted();
      const outgoing = open({
        agent,
        host: hostOf(server),
        port: portOf(server),
        method: request.method,
        path: request.path,
        headers: {
          ...request.headers,
          ...(request.body !== undefined && { 'content-length': Buffer.byteLength(request.body) }),
        },
      });
      const onAbort = (): void => {
        outgoing.destroy(request.signal.reason instanceof Error ? request.signal.reason : new Error('aborted'));
      };
      request.signal.addEventListener('abort', onAbort, { once: true });
      let silence: Timer | undefined;
      const restartSilence = (): void => {
        silence?.cancel();
        const { maxSilenceMillis } = request;
        if (maxSilenceMillis === undefined) return;
        silence = clock.setTimer(maxSilenceMillis, () =>
          outgoing.destroy(new ConnectionError(`The API server sent nothing for ${maxSilenceMillis / 1000} s.`)),
        );
      };
      restartSilence();
      outgoing.on('response', (incoming) => {
        restartSilence();
        // Errors after the answer began reach the reader of the body; without a listener they would end the process.
        incoming.on('error', () => {});
        // Counted on the socket: a listener on the body would start its flow before anybody reads it.
        // Kept here: Node takes the socket off the message before it closes.
        const { socket } = incoming;
        socket.on('data', restartSilence);
        incoming.on('close', () => socket.off('data', restartSilence));
        resolve({
          status: incoming.statusCode ?? 0,
          headers: incoming.headers,
          body: incoming,
          wasCut: () => !incoming.complete,
        });
      });
      outgoing.on('error', (cause) => {
        if (request.signal.aborted) reject(request.signal.reason);
        else if (cause instanceof ConnectionError) reject(cause);
        else
          reject(
            new ConnectionError(`The connection to ${server.origin} broke`, { cause, isUnprocessed: isUnsent(cause) }),
          );
      });
      outgoing.on('close', () => {
        silence?.cancel();
        request.signal.removeEventListener('abort', onAbort);
      });
      outgoing.end(request.body);
    });

  return {
    request: send,
    isInUse: () => Object.keys(agent.sockets).length > 0,
    drain() {
      for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
    },
    close: () => agent.destroy(),
  };
}

/** Errors of the connection attempt itself: nothing of the request was sent. */
function isUnsent(cause: unknown): boolean {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return (
    code === 'ECONNREFUSED' ||
    code === 'ENOTFOUND' ||
    code === 'EAI_AGAIN' ||
    code === 'EHOSTUNREACH' ||
    code === 'ENETUNREACH'
  );
}
