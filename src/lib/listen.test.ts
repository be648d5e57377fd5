import { createServer, type Server } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { listen } from './listen.ts';

function aServer(): Server {
  const server = createServer();
  onTestFinished(() => void server.close());
  return server;
}
const loopback = { host: '127.0.0.1', port: 0 };

test('a free port is taken and told', async () => {
  const server = aServer();
  const port = await listen(server, loopback, 'test');
  expect(server.address()).toMatchObject({ address: '127.0.0.1', port });
});

test('a port that is taken is named, with what to do', async () => {
  const port = await listen(aServer(), loopback, 'first');
  await expect(listen(aServer(), { ...loopback, port }, 'second')).rejects.toThrow(
    new RegExp(
      `^The second server cannot listen on 127\\.0\\.0\\.1:${port} \\(.*EADDRINUSE.*\\)\\. Free the port, or configure another\\.$`,
    ),
  );
});

test('later errors of the server are for whoever has it', async () => {
  const server = aServer();
  await listen(server, loopback, 'test');
  const later: unknown[] = [];
  server.on('error', (error) => later.push(error));
  server.emit('error', new Error('later'));
  expect(later).toHaveLength(1);
});
