import { once } from 'node:events';
import http2 from 'node:http2';
import { type AddressInfo, connect as connectSocket } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { Clock } from '../../lib/clock.ts';
import { createDeferred } from '../../lib/deferred.ts';
import { eventually } from '../../lib/testing/eventually.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { readBody } from '../read-answer.ts';
import { useTransports } from '../testing/transport-fixture.ts';
import { createHttp2Session } from './http2-session.ts';
import { ConnectionError } from './transport.ts';

const { connect, get, relay, serve, text } = useTransports();

describe('HTTP/2', () => {
  test('many requests share one connection a lane, and bodies, headers and methods arrive', async () => {
    const server = await serve();
    server.handler = (request, response, body) => {
      response.setHeader('x-seen', String(request.headers['x-sent']));
      response.end(`${request.method} ${request.url} ${body}`);
    };
    const transport = connect(server);
    const bulk = Array.from({ length: 50 }, (_, index) => text(transport, get(`/bulk/${index}?a=b`)));
    const control = text(
      transport,
      get('/x', { method: 'POST', body: '{"ä":1}', lane: 'control', headers: { 'x-sent': 'yes' } }),
    );
    expect(await Promise.all(bulk)).toContain('GET /bulk/49?a=b ');
    expect(await control).toBe('POST /x {"ä":1}');
    const response = await transport.request(get('/', { headers: { 'x-sent': 'again' } }));
    expect(response.headers['x-seen']).toBe('again');
    response.body.destroy();
    expect(server.sessions).toHaveLength(2);
  });

  test('stream limit: no more requests at once than the server allows; watches that fill a connection cause another', async () => {
    const server = await serve({ maxConcurrentStreams: 3 });
    let open = 0;
    let most = 0;
    const held: (() => void)[] = [];
    const bySession = new Map<unknown, number>();
    server.handler = (request, response) => {
      const session = 'stream' in request ? request.stream.session : undefined;
      bySession.set(session, (bySession.get(session) ?? 0) + 1);
      most = Math.max(most, ...bySession.values());
      open++;
      held.push(() => {
        bySession.set(session, (bySession.get(session) ?? 0) - 1);
        open--;
        response.end('done');
      });
    };
    const transport = connect(server);
    // Settings arrive with the first answer.
    const first = text(transport, get('/', { lane: 'control' }));
    await eventually(() => expect(held).toHaveLength(1));
    held.shift()?.();
    await first;
    const requests = Array.from({ length: 20 }, () => text(transport, get('/', { lane: 'control' })));
    let finished = 0;
    for (const request of requests) void request.then(() => finished++);
    // Four connections of three streams each.
    await eventually(() => expect(open).toBe(12));
    expect(server.sessions).toHaveLength(4);
    while (finished < 20) {
      held.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await Promise.all(requests)).toHaveLength(20);
    expect(most).toBe(3);
  });

  test('a ping that falls due between the end of a session and the word of it does nothing', async () => {
    const server = http2.createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const socket = connectSocket(port, '127.0.0.1');
    await once(socket, 'connect');
    const due: (() => void)[] = [];
    const clock: Clock = {
      now: () => 0,
      setTimer(_, callback) {
        due.push(callback);
        return { cancel: () => {} };
      },
    };
    const closed = createDeferred<void>();
    const session = createHttp2Session({ origin: `http://127.0.0.1:${port}`, socket, clock, onClose: closed.resolve });
    await session.ready;
    session.destroy(new ConnectionError('broken'));
    for (const callback of due) expect(callback).not.toThrow();
    await closed.promise;
    server.close();
  });

  test('no request leak: aborted requests give their stream back, before and after the answer began', async () => {
    const server = await serve({ maxConcurrentStreams: 2 });
    let isSilent = true;
    server.handler = (_, response) => {
      if (isSilent) return;
      response.write('begun');
    };
    const transport = connect(server);
    for (let round = 0; round < 10; round++) {
      isSilent = round % 2 === 0;
      const stops = [0, 1].map(() => new AbortController());
      const requests = stops.map(async ({ signal }) => {
        const response = await transport.request(get('/', { signal }));
        return await readBody(response, signal);
      });
      const settled = Promise.allSettled(requests);
      await new Promise((resolve) => setImmediate(resolve));
      for (const stop of stops) stop.abort(new Error('changed my mind'));
      for (const result of await settled)
        expect(result).toMatchObject({ status: 'rejected', reason: { message: 'changed my mind' } });
    }
    server.handler = (_, response) => response.end('fine');
    expect(await text(transport, get())).toBe('fine');
    // One connection held all of them: the places came back.
    expect(server.sessions).toHaveLength(1);
  });

  test('an abort before the request leaves nothing behind', async () => {
    const server = await serve();
    const transport = connect(server);
    await expect(transport.request(get('/', { signal: AbortSignal.abort(new Error('no')) }))).rejects.toThrow('no');
    expect(server.sessions).toHaveLength(0);
  });

  test('frozen server detected: 30 s of silence, a ping, 15 s without a pong; every stream ends and the next request redials', async () => {
    const server = await serve();
    server.handler = (_, response) => response.write('hello');
    const proxy = await relay(server);
    const clock = createVirtualClock(Date.now());
    const transport = connect(server, { clock, port: proxy.port });
    const bodies = await Promise.all(
      Array.from({ length: 15 }, async () => {
        const request = get();
        const response = await transport.request(request);
        await once(response.body, 'readable');
        // In an array: returned bare, it would be waited for.
        return [readBody(response, request.signal).catch((error: unknown) => error)] as const;
      }),
    );
    proxy.freeze();
    await clock.advance(30_000);
    await clock.advance(15_000);
    for (const error of await Promise.all(bodies.flat())) {
      expect(error).toBeInstanceOf(ConnectionError);
      expect(error).toMatchObject({ message: expect.stringContaining('did not answer a ping within 15 s') });
    }
    server.handler = (_, response) => response.end('back');
    expect(await text(transport, get())).toBe('back');
    expect(proxy.connections).toBe(2);
  });

  test('half-open session: a request on a connection whose peer is gone fails by the ping, not never', async () => {
    const server = await serve();
    const proxy = await relay(server);
    const clock = createVirtualClock(Date.now());
    const transport = connect(server, { clock, port: proxy.port });
    await text(transport, get());
    proxy.freeze();
    const lost = text(transport, get()).catch((error: unknown) => error);
    await eventually(() => expect(clock.pendingTimers()).toBeGreaterThan(0));
    await clock.advance(30_000);
    await clock.advance(15_000);
    expect(await lost).toBeInstanceOf(ConnectionError);
  });

  test('a quiet but healthy connection is pinged and kept', async () => {
    const server = await serve();
    const clock = createVirtualClock(Date.now());
    const transport = connect(server, { clock });
    await text(transport, get());
    let pings = 0;
    server.sessions[0]?.on('ping', () => pings++);
    for (let round = 1; round <= 3; round++) {
      await clock.advance(30_000);
      await eventually(() => expect(pings).toBe(round));
      // The answer to this ping comes after the answer to the client's, and after the client read its pong.
      await new Promise<void>((resolve) => void server.sessions[0]?.ping(() => resolve()));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await text(transport, get());
    expect(server.sessions).toHaveLength(1);
  });

  test('a server whose pong waits behind a long answer is not frozen', async () => {
    const server = await serve();
    let write: (() => void) | undefined;
    server.handler = (_, response) => {
      write = () => void response.write('more');
      write();
    };
    const proxy = await relay(server);
    const clock = createVirtualClock(Date.now());
    const transport = connect(server, { clock, port: proxy.port });
    const response = await transport.request(get());
    let received = 0;
    response.body.on('data', (chunk: Buffer) => (received += chunk.length));
    // The server's pongs are held back; its answer goes on.
    const session = server.sessions[0];
    await eventually(() => expect(received).toBe(4));
    proxy.dropTowardsServer();
    for (let round = 1; round <= 3; round++) {
      await clock.advance(30_000);
      write?.();
      await eventually(() => expect(received).toBe(4 + 4 * round));
      await clock.advance(15_000);
    }
    expect(session?.destroyed).toBe(false);
    await clock.advance(45_000);
    await eventually(() => expect(response.body.destroyed).toBe(true));
  });

  test('GOAWAY mid-flight: the open stream finishes, the next request goes over a new connection', async () => {
    const server = await serve();
    let finish: (() => void) | undefined;
    server.handler = (_, response) => {
      response.write('half ');
      finish = () => response.end('whole');
    };
    const transport = connect(server);
    const request = get();
    const response = await transport.request(request);
    const session = server.sessions[0];
    session?.goaway(0, 1);
    await eventually(async () => {
      server.handler = (_, response) => response.end('second');
      await text(transport, get());
      expect(server.sessions.length).toBeGreaterThan(1);
    });
    finish?.();
    expect((await readBody(response, request.signal)).toString()).toBe('half whole');
  });

  test('a stream the server refused unprocessed is told so, a reset one is not', async () => {
    const server = await serve();
    const reset = (code: number) => {
      server.handler = (request) => {
        if ('stream' in request) request.stream.close(code);
      };
    };
    const transport = connect(server);
    reset(7);
    await expect(transport.request(get())).rejects.toMatchObject({ code: 'KUBE_CONNECTION', isUnprocessed: true });
    reset(2);
    await expect(transport.request(get())).rejects.toMatchObject({ code: 'KUBE_CONNECTION', isUnprocessed: false });
  });

  test('a reset connection fails its requests, and the next one redials', async () => {
    const server = await serve();
    const proxy = await relay(server);
    const transport = connect(server, { port: proxy.port });
    let arrived = 0;
    server.handler = () => arrived++;
    const lost = text(transport, get()).catch((error: unknown) => error);
    await eventually(() => expect(arrived).toBe(1));
    proxy.reset();
    expect(await lost).toBeInstanceOf(ConnectionError);
    server.handler = (_, response) => response.end('again');
    expect(await text(transport, get())).toBe('again');
  });

  test('a connection cut in the middle of an answer is an error, not the end of a watch', async () => {
    const server = await serve();
    const proxy = await relay(server);
    server.handler = (_, response) => response.write('{"type":"ADDED"}\n');
    const transport = connect(server, { port: proxy.port });
    for (const cut of [
      () => proxy.reset(),
      () => server.sessions.at(-1)?.destroy(),
      () => server.sessions.at(-1)?.destroy(undefined, 2),
    ]) {
      const request = get();
      const response = await transport.request(request);
      const body = readBody(response, request.signal).catch((error: unknown) => error);
      await eventually(() => expect(response.body.readableDidRead).toBe(true));
      cut();
      expect(await body).toBeInstanceOf(ConnectionError);
    }
  });

  test('closing ends everything, also what comes later', async () => {
    const server = await serve();
    server.handler = () => {};
    const transport = connect(server);
    const open = text(transport, get()).catch((error: unknown) => error);
    await eventually(() => expect(server.sessions).toHaveLength(1));
    transport.close();
    expect(await open).toBeInstanceOf(ConnectionError);
    await expect(transport.request(get())).rejects.toThrow('The client was closed.');
  });
});
