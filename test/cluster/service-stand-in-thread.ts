/** Thread of the Service stand-in; started by service-stand-in.ts. */
import { connect, createServer, type Socket } from 'node:net';
import { parentPort } from 'node:worker_threads';

let endpoints: readonly number[] = [];
let turn = 0;

/** Goes through the candidates until one takes the connection; without any the client is cut off. */
function pass(client: Socket, candidates: readonly number[]): void {
  const [port, ...others] = candidates;
  if (port === undefined || client.destroyed) {
    client.destroy();
    return;
  }
  const server = connect(port, '127.0.0.1');
  const next = (): void => pass(client, others);
  server.once('error', next);
  server.once('connect', () => {
    server.off('error', next);
    // The other half is closed with it; who was cut off sees that.
    server.on('error', () => server.destroy());
    client.pipe(server).pipe(client);
    client.once('close', () => server.destroy());
    server.once('close', () => client.destroy());
  });
}

const listener = createServer((client) => {
  client.on('error', () => client.destroy());
  const first = turn++ % Math.max(1, endpoints.length);
  pass(client, [...endpoints.slice(first), ...endpoints.slice(0, first)]);
});
listener.listen(0, '127.0.0.1', () => {
  const address = listener.address();
  parentPort?.postMessage(address === null || typeof address === 'string' ? undefined : address.port);
});
parentPort?.on('message', (ports: readonly number[]) => {
  endpoints = ports;
});
