import { once } from 'node:events';
import type http2 from 'node:http2';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type Authority, issueClientCertificate } from '../../lib/certificates.ts';
import { type Clock, createSystemClock } from '../../lib/clock.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { readBody } from '../answer.ts';
import { type FreezableProxy, startFreezableProxy } from '../testing/freezable-proxy.ts';
import {
  type ScriptedServer,
  type ScriptedServerOptions,
  startScriptedServer,
  testAuthority,
} from '../testing/scripted-server.ts';
import { createTransport } from './create-transport.ts';
import { ConnectionError, type TlsMaterial, type Transport, type TransportRequest } from './transport.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function serve(options: ScriptedServerOptions = {}): Promise<ScriptedServer> {
  const server = await startScriptedServer(options);
  cleanUps.push(() => server.close());
  return server;
}

function connect(
  server: ScriptedServer,
  {
    clock,
    port,
    material,
    onUntrusted,
  }: {
    clock?: Clock;
    port?: number;
    material?: () => Promise<TlsMaterial>;
    onUntrusted?: () => void;
  } = {},
): Transport {
  const url = new URL(server.url);
  if (port !== undefined) url.port = String(port);
  const transport = createTransport({
    server: url,
    clock: clock ?? createSystemClock(),
    material: material ?? (async () => ({ ca: server.ca })),
    onUntrusted: onUntrusted ?? (() => {}),
  });
  cleanUps.push(() => transport.close());
  return transport;
}

async function relay(server: ScriptedServer): Promise<FreezableProxy> {
  const proxy = await startFreezableProxy(server.port);
  cleanUps.push(() => proxy.close());
  return proxy;
}

const get = (path = '/', extra: Partial<TransportRequest> = {}): TransportRequest => ({
  method: 'GET',
  path,
  headers: {},
  lane: 'bulk',
  signal: new AbortController().signal,
  ...extra,
});

async function text(transport: Transport, request: TransportRequest): Promise<string> {
  const response = await transport.request(request);
  return (await readBody(response, request.signal)).toString();
}

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
    const first = text(transport, get());
    await vi.waitFor(() => expect(held).toHaveLength(1));
    held.shift()?.();
    await first;
    const requests = Array.from({ length: 20 }, () => text(transport, get()));
    let finished = 0;
    for (const request of requests) void request.then(() => finished++);
    // Four connections of three streams each.
    await vi.waitFor(() => expect(open).toBe(12));
    expect(server.sessions).toHaveLength(4);
    while (finished < 20) {
      held.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await Promise.all(requests)).toHaveLength(20);
    expect(most).toBe(3);
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
    await vi.waitFor(() => expect(clock.pendingTimers()).toBeGreaterThan(0));
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
      await vi.waitFor(() => expect(pings).toBe(round));
      // The answer to this ping comes after the answer to the client's, and after the client read its pong.
      await new Promise<void>((resolve) => void server.sessions[0]?.ping(() => resolve()));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await text(transport, get());
    expect(server.sessions).toHaveLength(1);
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
    await vi.waitFor(async () => {
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
    await vi.waitFor(() => expect(arrived).toBe(1));
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
      await vi.waitFor(() => expect(response.body.readableDidRead).toBe(true));
      cut();
      expect(await body).toBeInstanceOf(ConnectionError);
    }
  });

  test('closing ends everything, also what comes later', async () => {
    const server = await serve();
    server.handler = () => {};
    const transport = connect(server);
    const open = text(transport, get()).catch((error: unknown) => error);
    await vi.waitFor(() => expect(server.sessions).toHaveLength(1));
    transport.close();
    expect(await open).toBeInstanceOf(ConnectionError);
    await expect(transport.request(get())).rejects.toThrow('The client was closed.');
  });
});

describe('trust', () => {
  test('CA rotation: a refused certificate has the CA read again, and the next request succeeds', async () => {
    const [old, next] = await Promise.all([testAuthority('old'), testAuthority('next')]);
    const server = await serve({ authority: old });
    let ca = old.certificatePem;
    let untrusted = 0;
    const transport = connect(server, { material: async () => ({ ca }), onUntrusted: () => untrusted++ });
    await text(transport, get());
    await server.useCertificate(next);
    for (const session of server.sessions) session.destroy();
    await vi.waitFor(() =>
      expect(text(transport, get())).rejects.toMatchObject({ message: expect.stringContaining('Cannot connect') }),
    );
    expect(untrusted).toBeGreaterThan(0);
    ca = next.certificatePem;
    expect(await text(transport, get())).toBe('{}');
  });

  test('new material is used for new requests at once, while open streams finish on the old connection', async () => {
    const server = await serve();
    let material: TlsMaterial = { ca: server.ca };
    const transport = connect(server, { material: async () => material });
    let finish: (() => void) | undefined;
    server.handler = (_, response) => {
      response.write('slow ');
      finish = () => response.end('end');
    };
    const slow = get();
    const response = await transport.request(slow);
    material = { ca: `${server.ca}\n` };
    server.handler = (_, response) => response.end('new');
    expect(await text(transport, get())).toBe('new');
    expect(server.sessions).toHaveLength(2);
    finish?.();
    expect((await readBody(response, slow.signal)).toString()).toBe('slow end');
    await vi.waitFor(() => expect(server.sessions[0]?.closed).toBe(true));
  });

  test('an unknown authority, a wrong name, and the ways to allow them', async () => {
    const server = await serve();
    const ca = server.ca;
    const strange = (await testAuthority()).certificatePem;
    const ask = (material: TlsMaterial) => text(connect(server, { material: async () => material }), get());
    await expect(ask({ ca: strange })).rejects.toThrow(/Cannot connect to the API server/);
    await expect(ask({ ca, serverName: 'other.internal' })).rejects.toThrow(/Cannot connect/);
    expect(await ask({ ca, serverName: 'api.internal' })).toBe('{}');
    expect(await ask({ ca: strange, isInsecure: true })).toBe('{}');
  });

  test('the client certificate is shown to the server', async () => {
    const authority: Authority = await testAuthority('clients');
    const server = await serve({ clientCa: authority.certificatePem });
    const now = Date.now();
    const pair = await issueClientCertificate(authority, {
      commonName: 'jane',
      notBeforeMillis: now - 1e6,
      notAfterMillis: now + 1e6,
    });
    server.handler = (request, response) => {
      const session = (request as http2.Http2ServerRequest).stream.session;
      const socket = session?.socket as unknown as { getPeerCertificate(): { subject?: { CN?: string } } };
      response.end(String(socket.getPeerCertificate().subject?.CN));
    };
    const material = { ca: server.ca, certificate: pair.certificatePem, privateKey: pair.privateKeyPem };
    expect(await text(connect(server, { material: async () => material }), get())).toBe('jane');
  });

  test('nothing listens: the message names the address, and the request was certainly not sent', async () => {
    const server = await serve();
    const proxy = await startFreezableProxy(server.port);
    await proxy.close();
    const transport = connect(server, { port: proxy.port });
    await expect(transport.request(get())).rejects.toMatchObject({
      isUnprocessed: true,
      message: expect.stringContaining(`127.0.0.1:${proxy.port}`),
    });
  });
});

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
    await vi.waitFor(() => expect(lines.join('')).toBe('first\n'));
    await clock.advance(300_000);
    write[0]?.('second\n');
    await vi.waitFor(() => expect(lines.join('')).toBe('first\nsecond\n'));
    await clock.advance(300_000);
    write[0]?.('third\n');
    await vi.waitFor(() => expect(lines.join('')).toBe('first\nsecond\nthird\n'));
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
