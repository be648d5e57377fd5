/** Stand-in of a Service: one loopback port, each connection passed on to one of the endpoints that can be reached. */
import { connect, createServer, type Socket } from 'node:net';

export interface ServiceStandIn {
  readonly port: number;
  /** Replaces the ports that connections go to; those open already stay where they are. */
  setEndpoints(ports: readonly number[]): void;
  close(): Promise<void>;
}

/** Endpoints take turns; one that refuses is skipped. Without any that answers the connection is closed. */
export async function startServiceStandIn(): Promise<ServiceStandIn> {
  let endpoints: readonly number[] = [];
  let turn = 0;
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    // The other half is closed with it; who was cut off sees that.
    socket.on('error', () => socket.destroy());
  };

  const pass = (client: Socket, candidates: readonly number[]): void => {
    const [port, ...others] = candidates;
    if (port === undefined || client.destroyed) {
      client.destroy();
      return;
    }
    const server = connect(port, '127.0.0.1');
    server.once('error', () => pass(client, others));
    server.once('connect', () => {
      server.removeAllListeners('error');
      keep(server);
      client.pipe(server).pipe(client);
      client.once('close', () => server.destroy());
      server.once('close', () => client.destroy());
    });
  };

  const listener = createServer((client) => {
    keep(client);
    const first = turn++ % Math.max(1, endpoints.length);
    pass(client, [...endpoints.slice(first), ...endpoints.slice(0, first)]);
  });
  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject);
    listener.listen(0, '127.0.0.1', resolve);
  });
  const address = listener.address();
  if (address === null || typeof address === 'string') throw new Error('the system gave no port');
  return {
    port: address.port,
    setEndpoints(ports) {
      endpoints = ports;
    },
    async close() {
      const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
