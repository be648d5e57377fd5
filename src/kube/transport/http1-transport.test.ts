import { describe, expect, test } from 'vitest';
import { eventually } from '../../lib/testing/eventually.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { readBody } from '../read-answer.ts';
import { testAuthority } from '../testing/scripted-server.ts';
import { useTransports } from '../testing/transport-fixture.ts';

const { connect, get, relay, serve, text } = useTransports();

describe.each(['http/1.1', 'plain'] as const)('HTTP/1.1 (%s)', (protocol) => {
  test('ALPN decides; short requests reuse a connection, each watch has its own', async () => {
    const server = await serve({ protocol });
    server.handler = (request, response, body) => {
      if (request.url === '/watch') response.write('event\n');
      else response.end(`${request.method} ${body}`);
    };
    const transport = connect(server);
    expect(await text(transport, get('/', { method: 'PUT', body: 'ä' }))).toBe('PUT ä');
    const before = server.sockets.length;
    for (let count = 0; count < 5; count++) expect(await text(transport, get())).toBe('GET ');
    expect(server.sockets.length).toBe(before);
    const stop = new AbortController();
    const watches = await Promise.all([0, 1, 2].map(() => transport.request(get('/watch', { signal: stop.signal }))));
    expect(await text(transport, get())).toBe('GET ');
    const read = watches.map((response) => readBody(response, stop.signal).catch((error: unknown) => error));
    stop.abort(new Error('enough'));
    for (const error of await Promise.all(read)) expect(error).toMatchObject({ message: 'enough' });
  });

  test('a watch that stays silent for longer than its deadline is dropped', async () => {
    const server = await serve({ protocol });
    const write: ((text: string) => void)[] = [];
    server.handler = (_, response) => {
      response.write('first\n');
      write.push((line) => void response.write(line));
    };
    const clock = createVirtualClock(Date.now());
    const transport = connect(server, { clock });
    const request = get('/watch', { maxSilenceMillis: 310_000 });
    const { body } = await transport.request(request);
    const lines: string[] = [];
    const ended = (async () => {
      for await (const chunk of body) lines.push(String(chunk));
    })().catch((error: unknown) => error);
    await eventually(() => expect(lines.join('')).toBe('first\n'));
    await clock.advance(300_000);
    write[0]?.('second\n');
    await eventually(() => expect(lines.join('')).toBe('first\nsecond\n'));
    await clock.advance(300_000);
    write[0]?.('third\n');
    await eventually(() => expect(lines.join('')).toBe('first\nsecond\nthird\n'));
    await clock.advance(310_000);
    expect(await ended).toBeInstanceOf(Error);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('a reset connection is a ConnectionError', async () => {
    const server = await serve({ protocol });
    const transport = connect(server);
    server.handler = (request) => request.socket.destroy();
    await expect(transport.request(get())).rejects.toMatchObject({ code: 'KUBE_CONNECTION', isUnprocessed: false });
  });
});

test('over plain HTTP, too, a client that was closed asks nothing more', async () => {
  const server = await serve({ protocol: 'plain' });
  const transport = connect(server);
  await text(transport, get());
  transport.close();
  await expect(transport.request(get())).rejects.toThrow('The client was closed.');
  expect(server.sockets).toHaveLength(1);
});

test('a server that speaks HTTP/2 by now is spoken to so after a while, and one that does not is asked seldom', async () => {
  const authority = await testAuthority();
  const old = await serve({ protocol: 'http/1.1', authority });
  // The address stays, whoever answers there.
  const address = await relay(old);
  const clock = createVirtualClock(Date.now());
  const transport = connect(old, { clock, port: address.port });
  await text(transport, get());
  const asked = old.sockets.length;
  await clock.advance(599_000);
  await text(transport, get());
  expect(old.sockets.length).toBe(asked);
  await clock.advance(1_000);
  expect(await text(transport, get())).toBe('{}');
  // The handshake that told so; the request itself went over the connection there was.
  expect(old.sockets.length).toBe(asked + 1);
  await old.close();
  const upgraded = await serve({ protocol: 'h2', authority });
  address.leadTo(upgraded.port);
  await clock.advance(600_000);
  expect(await text(transport, get())).toBe('{}');
  expect(await text(transport, get())).toBe('{}');
  expect(upgraded.sessions).toHaveLength(1);
});
