import { once } from 'node:events';
import http2 from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { expect, test } from 'vitest';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { useTransports } from '../testing/transport-fixture.ts';
import { createHttp2Session } from './http2-session.ts';
import { ConnectionError } from './transport.ts';

const { get } = useTransports();

test('who gives up in the moment a place is granted asks for nothing', async () => {
  let asked = 0;
  const server = http2.createServer().on('stream', (stream) => {
    asked++;
    stream.respond({ ':status': 200 });
    stream.end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const clock = createVirtualClock(0);
  const session = createHttp2Session({ origin: `http://127.0.0.1:${port}`, socket, clock, onClose: () => {} });
  await session.ready;
  const stop = new AbortController();
  const asking = session.request(get('/', { signal: stop.signal }));
  stop.abort(new Error('stopped'));
  await expect(asking).rejects.toThrow('stopped');
  expect([asked, session.streamsInUse]).toEqual([0, 0]);
  session.destroy(new ConnectionError('over'));
  server.close();
});
