/** A server on loopback whose answers a test writes itself: HTTP/2 or HTTP/1.1 over TLS, or plain HTTP. */
import { once } from 'node:events';
import http from 'node:http';
import http2, { type Http2ServerRequest, type Http2ServerResponse, type ServerHttp2Session } from 'node:http2';
import https from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Authority } from '../../lib/certificates.ts';
import { createAuthority, issueServerCertificate } from '../../lib/certificates.ts';

export type ScriptedRequest = Http2ServerRequest | http.IncomingMessage;
/** What HTTP/1.1 and HTTP/2 responses have in common. */
export interface ScriptedResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  write(text: string): unknown;
  end(text: string): unknown;
  end(): unknown;
}
export type ScriptedHandler = (request: ScriptedRequest, response: ScriptedResponse, body: string) => void;

export interface ScriptedServer {
  readonly url: URL;
  readonly port: number;
  /** PEM of the authority to trust; empty for plain HTTP. */
  readonly ca: string;
  handler: ScriptedHandler;
  /** Of all HTTP/2 connections so far. */
  readonly sessions: ServerHttp2Session[];
  readonly sockets: Socket[];
  /** Presents another certificate from now on. */
  useCertificate(authority: Authority): Promise<void>;
  close(): Promise<void>;
}

export interface ScriptedServerOptions {
  readonly protocol?: 'h2' | 'http/1.1' | 'plain';
  readonly maxConcurrentStreams?: number;
  /** Ask clients for a certificate signed by this authority. */
  readonly clientCa?: string;
  readonly authority?: Authority;
}

const dayMillis = 86_400_000;
const validity = () => ({ notBeforeMillis: Date.now() - dayMillis, notAfterMillis: Date.now() + dayMillis });

export const testAuthority = (commonName = 'test authority'): Promise<Authority> =>
  createAuthority({ commonName, ...validity() });

/** What a TLS server on this machine shows. */
export async function testServerPair(authority: Authority): Promise<{ readonly cert: string; readonly key: string }> {
  const pair = await issueServerCertificate(authority, {
    commonName: 'server',
    dnsNames: ['localhost', 'api.internal'],
    ipAddresses: ['127.0.0.1'],
    ...validity(),
  });
  return { cert: pair.certificatePem, key: pair.privateKeyPem };
}

export async function startScriptedServer(options: ScriptedServerOptions = {}): Promise<ScriptedServer> {
  const { protocol = 'h2', maxConcurrentStreams, clientCa } = options;
  const authority = protocol === 'plain' ? undefined : (options.authority ?? (await testAuthority()));
  const tls = authority && {
    ...(await testServerPair(authority)),
    ...(clientCa !== undefined && { ca: clientCa, requestCert: true, rejectUnauthorized: false }),
  };
  const sessions: ServerHttp2Session[] = [];
  const sockets: Socket[] = [];
  const onRequest = (request: ScriptedRequest, response: Http2ServerResponse | http.ServerResponse): void => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (text: string) => {
      body += text;
    });
    request.on('error', () => {});
    response.on('error', () => {});
    request.on('end', () => scripted.handler(request, response, body));
  };
  const server: Server =
    tls === undefined
      ? http.createServer(onRequest)
      : protocol === 'h2'
        ? http2.createSecureServer(
            { ...tls, settings: { ...(maxConcurrentStreams !== undefined && { maxConcurrentStreams }) } },
            onRequest,
          )
        : https.createServer({ ...tls, ALPNProtocols: ['http/1.1'] }, onRequest);
  server.on('session', (session: ServerHttp2Session) => {
    sessions.push(session);
    session.on('error', () => {});
  });
  server.on('connection', (socket: Socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
  });
  server.on('secureConnection', (socket: TLSSocket) => socket.on('error', () => {}));
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const scripted: ScriptedServer = {
    url: new URL(`${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`),
    port,
    ca: authority?.certificatePem ?? '',
    handler: (_, response) => response.end('{}'),
    sessions,
    sockets,
    async useCertificate(from) {
      if ('setSecureContext' in server) (server as https.Server).setSecureContext(await testServerPair(from));
    },
    async close() {
      if (!server.listening) return;
      for (const session of sessions) session.destroy();
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return scripted;
}
