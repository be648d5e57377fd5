import { expect, test } from 'vitest';
import { useTransports } from '../testing/transport-fixture.ts';

const { connect, get, serve, text } = useTransports();

test('watches, however many, keep no list waiting: namespaces times types may be more than four connections hold', async () => {
  const server = await serve({ maxConcurrentStreams: 3 });
  let watches = 0;
  server.handler = (request, response) => {
    if (request.url !== '/watch') response.end('list');
    else {
      watches++;
      response.write('event\n');
    }
  };
  const transport = connect(server);
  const stop = new AbortController();
  const open = Array.from({ length: 40 }, () => transport.request(get('/watch', { signal: stop.signal })));
  const read = open.map((response) => response.then(({ body }) => body.on('error', () => {}).resume()));
  await Promise.all(read);
  expect(watches).toBe(40);
  expect(await text(transport, get('/list'))).toBe('list');
  expect(server.sessions).toHaveLength(14);
  stop.abort(new Error('enough'));
});
