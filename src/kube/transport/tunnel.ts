/** A way to a server through an HTTP proxy: CONNECT (RFC 9110, 9.3.6), and from then on bytes as they are. */
import https from 'node:https';
import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { http } from '../../lib/node-http.ts';

export interface TunnelOptions {
  /** `http:` or `https:`, perhaps with who asks and his password. */
  readonly proxy: URL;
  /** Where the proxy is, and how its certificate is checked where it has one. */
  readonly address: ConnectionOptions;
  /** The server's `host:port`. */
  readonly target: string;
  /** Gives up. */
  readonly signal: AbortSignal;
}

/** Nothing has gone to the server yet. @throws Error where the proxy cannot be reached, or does not let through. */
export function openTunnel({ proxy, address, target, signal }: TunnelOptions): Promise<Socket> {
  const { request } = proxy.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const asking = request({
      ...address,
      agent: false,
      method: 'CONNECT',
      path: target,
      headers: { host: target, ...authorizationOf(proxy) },
      signal,
    });
    asking.once('connect', ({ statusCode = 0, statusMessage }, socket, head) => {
      if (statusCode >= 200 && statusCode < 300) {
        // What the server has said already belongs to the handshake.
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
        return;
      }
      socket.on('error', () => {});
      socket.destroy();
      const hint = statusCode === 407 ? '; it wants a user name and password in its address' : '';
      reject(new Error(`it answers ${statusCode} ${statusMessage}${hint}`));
    });
    asking.once('error', reject);
    asking.end();
  });
}

function authorizationOf({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}
