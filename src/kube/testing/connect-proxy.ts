/** An HTTP proxy that opens tunnels, and keeps what it was asked. */
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { http } from '../../lib/node-http.ts';

export interface ConnectProxy {
  readonly url: URL;
  /** What tunnels were asked to lead to, in order. */
  readonly targets: readonly string[];
  /** Who asked, of the same. */
  readonly authorizations: readonly (string | undefined)[];
  /** Connections to it and from it that are open. */
  readonly open: number;
  close(): Promise<void>;
}

/** @param status answered instead of opening a tunnel. */
export async function startConnectProxy(status?: string): Promise<ConnectProxy> {
  const targets: string[] = [];
  const authorizations: (string | undefined)[] = [];
  const sockets = new Set<net.Socket>();
  const keep = (socket: net.Socket): net.Socket => {
    sockets.add(socket);
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  };
  const server = http.createServer();
  server.on('connection', keep);
  server.on('connect', ({ url = '', headers }, near: net.Socket) => {
    targets.push(url);
    authorizations.push(headers['proxy-authorization']);
    if (status !== undefined) {
      near.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    const { hostname, port } = new URL(`https://${url}`);
    const far = keep(net.connect(Number(port), hostname));
    near.write('HTTP/1.1 200 Connection established\r\n\r\n');
    near.pipe(far).pipe(near);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    targets,
    authorizations,
    get open() {
      return sockets.size;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
