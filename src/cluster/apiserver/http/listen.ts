/** Opens the server's sockets: HTTPS with HTTP/2 and HTTP/1.1 by ALPN, or plain HTTP; certificates can be swapped while it runs. */
import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { http } from '../../../lib/node-http.ts';
import type { HttpRequest, HttpResponse } from './exchange.ts';

export interface TlsMaterial {
  /** PEM. */
  readonly key: string;
  readonly cert: string;
  /** Authority of client certificates; without it none is asked for. */
  readonly clientCa?: string;
}

/** HTTP/2 needs TLS here, as with the real server. */
export interface ListenOptions {
  /** 0 or absent picks a free port. */
  readonly port?: number;
  /** Default: loopback. */
  readonly host?: string;
  /** Absent: plain HTTP. */
  readonly tls?: TlsMaterial;
}

/** One socket; closing it leaves the API server and its other sockets alone. */
export interface ListeningServer {
  readonly url: string;
  readonly port: number;
  /** Serves another certificate to new connections, as after a rotation. Throws TypeError on a plain server. */
  rotateCertificate(tls: TlsMaterial): void;
  /** Breaks every open connection, as a restart of the server would. */
  dropConnections(): void;
  /** Stops listening and breaks what is open. */
  close(): Promise<void>;
}

/** As the real server: 250 streams a connection. */
const MAX_CONCURRENT_STREAMS = 250;
/**
 * Megabytes a session may hold unsent. Beyond it Node refuses further streams with ENHANCE_YOUR_CALM, as happens within
 * the first 10 MB (its default) when several informers fill at once.
 */
const MAX_SESSION_MEMORY = 1_024;

/** Idle HTTP/1.1 connections are kept this long, so that clients do not meet a connection just being closed. */
const KEEP_ALIVE_MILLIS = 120_000;

/** Resolves when connections are taken. Rejects where the address is in use. */
export async function listen(
  handle: (request: HttpRequest, response: HttpResponse) => void,
  options: ListenOptions = {},
): Promise<ListeningServer> {
  const { tls, host = '127.0.0.1', port = 0 } = options;
  const secure =
    tls === undefined
      ? undefined
      : createSecureServer({
          allowHTTP1: true,
          key: tls.key,
          cert: tls.cert,
          settings: { maxConcurrentStreams: MAX_CONCURRENT_STREAMS },
          maxSessionMemory: MAX_SESSION_MEMORY,
          ...(tls.clientCa === undefined ? {} : { ca: tls.clientCa, requestCert: true, rejectUnauthorized: false }),
        });
  const server = secure ?? http.createServer({ keepAliveTimeout: KEEP_ALIVE_MILLIS });
  const sockets = new Set<Socket>();
  const track = (socket: Socket): void => {
    sockets.add(socket);
    // Answers go out in several small writes; waiting to fill packets would cost 40 ms each.
    socket.setNoDelay(true);
    socket.on('close', () => sockets.delete(socket));
    // Broken connections are the client's affair.
    socket.on('error', () => undefined);
  };
  server.on('connection', track);
  if (secure !== undefined) {
    secure.on('request', handle);
    secure.on('sessionError', () => undefined);
    secure.on('tlsClientError', () => undefined);
  } else server.on('request', handle);
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  const dropConnections = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${host}:${address.port}`,
    port: address.port,
    rotateCertificate(next) {
      if (secure === undefined) throw new TypeError('a plain HTTP server has no certificate to rotate');
      secure.setSecureContext({
        key: next.key,
        cert: next.cert,
        ...(next.clientCa === undefined ? {} : { ca: next.clientCa }),
      });
    },
    dropConnections,
    async close() {
      dropConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
