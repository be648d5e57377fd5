import { once } from 'node:events';
import { Agent, request as httpsRequest } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { connect } from 'node:tls';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Authority } from '../lib/certificates.ts';
import { createSystemClock } from '../lib/clock.ts';
import { createSilentLogger } from '../lib/log.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import {
  type BodyHandler,
  connectionLimits,
  type KeyPair,
  startWebhookServer,
  type WebhookServerOptions,
} from './server.ts';
import { issueKeyPairs } from './testing/key-pairs.ts';

const log = createSilentLogger();
const clock = createSystemClock();

let authority: Authority;
let firstPair: KeyPair;
let secondPair: KeyPair;

beforeAll(async () => {
  ({ authority, firstPair, secondPair } = await issueKeyPairs());
});

async function start(handle: BodyHandler, options: Partial<WebhookServerOptions> = {}) {
  const listening = { port: 0, host: '127.0.0.1', keyPair: firstPair };
  const server = await startWebhookServer({ ...listening, handle, clock, log, ...options });
  const agent = new Agent({ ca: authority.certificatePem, keepAlive: true });
  onTestFinished(async () => {
    agent.destroy();
    await server.drain({ graceMillis: 0 });
  });
  return { server, agent };
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly connection: string | undefined;
  readonly allow: string | undefined;
}

function send(
  port: number,
  agent: Agent,
  options: { method?: string; path?: string; type?: string; body?: string | Buffer },
): Promise<Answer> {
  const { method = 'POST', path = '/mutate', type = 'application/json', body = '{}' } = options;
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      { host: '127.0.0.1', port, agent, method, path, headers: { 'content-type': type } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            body: Buffer.concat(chunks).toString(),
            connection: response.headers.connection,
            allow: response.headers.allow,
          }),
        );
        response.on('error', reject);
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

/** Common name of the certificate a new connection is served. */
function servedName(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, ca: authority.certificatePem }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

test('no connection that an API server may still use is ended first: it keeps those of a burst for 90 s, used or not', () => {
  expect(Math.min(...Object.values(connectionLimits))).toBeGreaterThan(90_000);
});

describe('requests', () => {
  test('a POST of JSON to /mutate is handled, whatever parameters the media type has', async () => {
    const { server, agent } = await start((body) => ({ status: 200, body: `{"echo":${body}}` }));
    const answer = await send(server.port, agent, { type: 'Application/JSON; charset=utf-8', body: '{"a":"ü"}' });
    expect(answer).toMatchObject({ status: 200, body: '{"echo":{"a":"ü"}}', connection: 'keep-alive' });
  });

  test('bodies that together are more than may be held are refused until others are answered, each connection on', async () => {
    const release = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const { server, agent } = await start(
      async () => {
        begun.resolve();
        await release.promise;
        return { status: 200, body: '{}' };
      },
      { maxHeldBytes: 1_000 },
    );
    const body = JSON.stringify({ text: 'x'.repeat(700) });
    const first = send(server.port, agent, { body });
    await begun.promise;
    const second = await send(server.port, agent, { body });
    expect(second.status).toBe(503);
    expect(JSON.parse(second.body)).toMatchObject({ code: 'BUSY' });
    release.resolve();
    expect((await first).status).toBe(200);
    expect((await send(server.port, agent, { body })).status).toBe(200);
  });

  test('a body that does not end is refused after a while, and what it held is free again', async () => {
    const virtual = createVirtualClock(0);
    const { server, agent } = await start(() => ({ status: 200, body: '{}' }), { clock: virtual, maxHeldBytes: 1_000 });
    const body = JSON.stringify({ text: 'x'.repeat(700) });
    const answered = Promise.withResolvers<number | undefined>();
    const headers = { 'content-type': 'application/json', 'content-length': 2_000 };
    const endless = httpsRequest({
      host: '127.0.0.1',
      port: server.port,
      agent,
      method: 'POST',
      path: '/mutate',
      headers,
    });
    endless.on('error', () => {});
    endless.on('response', (response) => {
      response.resume();
      answered.resolve(response.statusCode);
    });
    endless.write(body);
    // Until the server has read what was written.
    while ((await send(server.port, agent, { body })).status !== 503);
    await virtual.advance(10_000);
    expect(await answered.promise).toBe(408);
    expect((await send(server.port, agent, { body })).status).toBe(200);
    endless.destroy();
    expect(virtual.pendingTimers()).toBe(0);
  });

  test.each([
    ['a wrong content type', { type: 'text/plain' }, 400, 'INVALID_CONTENT_TYPE'],
    ['another path', { path: '/validate' }, 404, 'NOT_FOUND'],
    ['another method', { method: 'PUT' }, 405, 'METHOD_NOT_ALLOWED'],
    ['a body over 3 MiB', { body: Buffer.alloc(3 * 1024 * 1024 + 1, 32) }, 413, 'REQUEST_BODY_TOO_LARGE'],
  ])('%s is refused', async (_, options, status, code) => {
    const { server, agent } = await start(() => ({ status: 200, body: '{}' }));
    const answer = await send(server.port, agent, options);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toMatchObject({ code });
  });

  test('what is not allowed says what is', async () => {
    const { server, agent } = await start(() => ({ status: 200, body: '{}' }));
    expect((await send(server.port, agent, { method: 'PUT' })).allow).toBe('POST');
    expect((await send(server.port, agent, {})).allow).toBeUndefined();
  });

  test('further paths have handlers of their own', async () => {
    const other = { '/validate-optimizationpolicy': () => ({ status: 200, body: '"other"' }) };
    const { server, agent } = await start(() => ({ status: 200, body: '"mutate"' }), { also: other });
    const ask = async (path: string) => (await send(server.port, agent, { path })).body;
    expect(await ask('/validate-optimizationpolicy?timeout=5s')).toBe('"other"');
    expect(await ask('/mutate')).toBe('"mutate"');
    expect(await ask('/validate')).toContain('only /mutate and /validate-optimizationpolicy is served here');
  });

  test('a body of exactly 3 MiB is taken', async () => {
    const { server, agent } = await start((body) => ({ status: 200, body: `${body.length}` }));
    expect((await send(server.port, agent, { body: Buffer.alloc(3 * 1024 * 1024, 32) })).body).toBe(
      `${3 * 1024 * 1024}`,
    );
  });

  test('a handler that fails gives 500 and the server goes on', async () => {
    let count = 0;
    const { server, agent } = await start(() => {
      if (count++ === 0) throw new Error('boom');
      return { status: 200, body: '{}' };
    });
    const failed = await send(server.port, agent, {});
    expect(failed.status).toBe(500);
    expect(failed.body).not.toContain('boom');
    expect((await send(server.port, agent, {})).status).toBe(200);
  });
});

describe('shutdown', () => {
  test('what is in flight is answered with Connection: close, new connections are refused', async () => {
    const answered = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const { server, agent } = await start(async () => {
      reached.resolve();
      await answered.promise;
      return { status: 200, body: '{}' };
    });
    const inFlight = send(server.port, agent, {});
    await reached.promise;
    const drained = server.drain({ graceMillis: 10_000 });
    await expect(servedName(server.port)).rejects.toThrow();
    answered.resolve();
    expect(await inFlight).toMatchObject({ status: 200, connection: 'close' });
    await drained;
  });

  test('before that it goes on for a while, and asks for other connections', async () => {
    const virtual = createVirtualClock(0);
    const { server, agent } = await start(() => ({ status: 200, body: '{}' }), { clock: virtual });
    const drained = server.drain({ delayMillis: 3_000, graceMillis: 10_000 });
    for (let asked = 0; asked < 2; asked++)
      expect(await send(server.port, agent, {})).toMatchObject({ status: 200, connection: 'close' });
    await virtual.advance(3_000);
    await expect(servedName(server.port)).rejects.toThrow();
    await drained;
  });

  test('a connection on which nothing was ever asked does not hold up the end', async () => {
    const virtual = createVirtualClock(0);
    const handle: BodyHandler = () => ({ status: 200, body: '{}' });
    const server = await startWebhookServer({
      port: 0,
      host: '127.0.0.1',
      keyPair: firstPair,
      handle,
      clock: virtual,
      log,
    });
    const socket = connect({ port: server.port, host: '127.0.0.1', ca: authority.certificatePem });
    const closed = once(socket, 'close');
    socket.resume();
    // The server has ended the handshake once it sends a ticket.
    await once(socket, 'session');
    const drained = server.drain({ graceMillis: 10_000 });
    await virtual.advance(1_000);
    await Promise.all([drained, closed]);
  });
});

test('of idle connections so many are kept: the one that has waited longest goes, and who asks is answered', async () => {
  const { server, agent } = await start(() => ({ status: 200, body: '{}' }), { maxIdle: 3 });
  const open = async () => {
    const socket = connect({ port: server.port, host: '127.0.0.1', ca: authority.certificatePem });
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => {});
    const closed = once(socket.resume(), 'close');
    await once(socket, 'session');
    return { socket, closed };
  };
  const [first, second] = [await open(), await open()];
  // Takes its place behind them once it was answered, however often it asks.
  expect((await send(server.port, agent, {})).status).toBe(200);
  const third = await open();
  await first.closed;
  expect((await send(server.port, agent, {})).status).toBe(200);
  const fourth = await open();
  await second.closed;
  expect([third, fourth].map(({ socket }) => socket.destroyed)).toEqual([false, false]);
  expect(Object.values(agent.freeSockets).flat()).toHaveLength(1);
});

test('a connection that never speaks TLS does not hold up the end', async () => {
  const virtual = createVirtualClock(0);
  const handle: BodyHandler = () => ({ status: 200, body: '{}' });
  const listening = { port: 0, host: '127.0.0.1', keyPair: firstPair };
  const server = await startWebhookServer({ ...listening, handle, clock: virtual, log });
  const socket = connectPlain(server.port, '127.0.0.1');
  const closed = once(socket.resume(), 'close');
  socket.on('error', () => {});
  await once(socket, 'connect');
  // Connections are accepted in order: the server has the silent one, too.
  expect(await servedName(server.port)).toBe('first');
  const drained = server.drain({ graceMillis: 10_000 });
  await virtual.advance(10_000);
  await Promise.all([drained, closed]);
});

describe('certificates', () => {
  test('a new pair is served to new connections without a restart', async () => {
    const { server } = await start(() => ({ status: 200, body: '{}' }));
    expect(await servedName(server.port)).toBe('first');
    server.setKeyPair(secondPair);
    expect(await servedName(server.port)).toBe('second');
  });
});
