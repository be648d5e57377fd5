/** A TCP relay that can stop relaying without closing anything: a frozen server, a half-open connection, a cut cable. */
import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';

export interface FreezableProxy {
  readonly port: number;
  /** Connections accepted so far. */
  readonly connections: number;
  /** From now on no byte passes on the present connections, in either direction; they stay open. New ones work. */
  freeze(): void;
  /** From now on what the clients send is lost on the way; what the server sends still arrives. */
  dropTowardsServer(): void;
  /** From now on new connections lead to this port. */
  leadTo(port: number): void;
  /** Resets the present connections. */
  reset(): void;
  close(): Promise<void>;
}

export async function startFreezableProxy(firstPort: number): Promise<FreezableProxy> {
  let targetPort = firstPort;
  const pairs = new Set<readonly [Socket, Socket]>();
  let connections = 0;
  const server = net.createServer((near) => {
    connections++;
    const far = net.connect(targetPort, '127.0.0.1');
    const pair = [near, far] as const;
    pairs.add(pair);
    for (const socket of pair) {
      socket.on('error', () => {});
      socket.on('close', () => {
        pairs.delete(pair);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far);
    far.pipe(near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
    freeze() {
      for (const [near, far] of pairs) {
        near.unpipe(far);
        far.unpipe(near);
        near.pause();
        far.pause();
      }
    },
    dropTowardsServer() {
      for (const [near, far] of pairs) {
        near.unpipe(far);
        near.resume();
      }
    },
    leadTo(port) {
      targetPort = port;
    },
    reset() {
      for (const [near] of pairs) near.resetAndDestroy();
    },
    async close() {
      for (const [near, far] of pairs) {
        near.destroy();
        far.destroy();
      }
      server.close();
      await once(server, 'close');
    },
  };
}
