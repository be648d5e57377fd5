import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { trackSockets } from './open-sockets.ts';

test('a server with open connections ends when they are destroyed; those that ended before are not kept', async () => {
  const server = createServer();
  const sockets = trackSockets(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const open = async () => {
    const accepted = once(server, 'connection');
    const client = connect(port, '127.0.0.1');
    client.on('error', () => {});
    const [socket] = await accepted;
    return { client, socket };
  };
  const first = await open();
  const gone = once(first.socket, 'close');
  first.client.destroy();
  await gone;
  const second = await open();
  const closed = Promise.all([once(server, 'close'), once(second.client, 'close')]);
  server.close();
  let destroyed = 0;
  for (const { socket } of [first, second]) {
    const { destroy } = socket;
    socket.destroy = () => {
      destroyed++;
      return destroy.call(socket);
    };
  }
  sockets.destroyAll();
  await closed;
  expect(destroyed).toBe(1);
});
