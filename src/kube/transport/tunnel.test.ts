import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import tls from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createSystemClock } from '../../lib/clock.ts';
import { describeError } from '../../lib/errors.ts';
import { createSilentLogger } from '../../lib/log.ts';
import { createSeededRandom } from '../../lib/random.ts';
import { eventually } from '../../lib/testing/eventually.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { createKubeApi } from '../client.ts';
import { fixedTrust } from '../connection.ts';
import { startConnectProxy } from '../testing/connect-proxy.ts';
import { fixedCredentials } from '../testing/fixed-credentials.ts';
import { testAuthority, testServerPair } from '../testing/scripted-server.ts';
import { useTransports } from '../testing/transport-fixture.ts';
import { dialTls } from './dial.ts';
import type { ConnectionError } from './transport.ts';

const { connect, get, serve, text } = useTransports();

async function startProxy(status?: string) {
  const proxy = await startConnectProxy(status);
  onTestFinished(() => proxy.close());
  return proxy;
}

const failureOf = async (asked: Promise<unknown>): Promise<ConnectionError> =>
  (await asked.catch((error: unknown) => error)) as ConnectionError;

describe.each(['h2', 'http/1.1'] as const)('through a proxy, %s', (protocol) => {
  test('requests reach the server, whose own certificate is what is checked', async () => {
    const [server, proxy] = [await serve({ protocol }), await startProxy()];
    const transport = connect(server, { proxy: proxy.url });
    const asked = Array.from({ length: 5 }, () => text(transport, get()));
    expect(await Promise.all(asked)).toEqual(asked.map(() => '{}'));
    expect(new Set(proxy.targets)).toEqual(new Set([`127.0.0.1:${server.port}`]));
    expect(server.sockets).toHaveLength(proxy.targets.length);
    const strange = (await testAuthority()).certificatePem;
    const doubting = connect(server, { proxy: proxy.url, material: async () => ({ ca: strange }) });
    await expect(text(doubting, get())).rejects.toThrow(/Cannot connect to the API server/);
  });

  test('a connection is used again, as without one, and ends with the transport', async () => {
    const [server, proxy] = [await serve({ protocol }), await startProxy()];
    const transport = connect(server, { proxy: proxy.url });
    for (let round = 0; round < 3; round++) await text(transport, get());
    const offered = protocol === 'h2' ? 0 : 1;
    expect(proxy.targets).toHaveLength(1 + offered);
    expect(proxy.open).toBeGreaterThan(0);
    transport.close();
    await eventually(() => expect(proxy.open).toBe(0));
  });
});

test('the client takes the proxy of its connection', async () => {
  const [server, proxy] = [await serve(), await startProxy()];
  server.handler = (_, response) => response.end('{"major":"1"}');
  const api = createKubeApi({
    connection: {
      server: new URL(server.url),
      description: 'test',
      namespace: 'default',
      credentials: fixedCredentials({}),
      trust: fixedTrust({ ca: server.ca }),
      proxy: proxy.url,
    },
    clock: createSystemClock(),
    random: createSeededRandom(1),
    log: createSilentLogger(),
  });
  onTestFinished(() => api.close());
  expect(await api.getJson('/version')).toEqual({ major: '1' });
  expect(proxy.targets).toHaveLength(1);
});

test('who asks is told to the proxy, and nobody else', async () => {
  const [server, proxy] = [await serve(), await startProxy()];
  const address = new URL(proxy.url);
  [address.username, address.password] = ['jane', 'a:secret@'];
  expect(await text(connect(server, { proxy: address }), get())).toBe('{}');
  expect(proxy.authorizations).toEqual([`Basic ${Buffer.from('jane:a:secret@').toString('base64')}`]);
  await proxy.close().catch(() => {});
  const told = describeError(await failureOf(text(connect(server, { proxy: address }), get())));
  expect(told).toContain(`through the proxy ${proxy.url.origin}: `);
  expect(told).not.toMatch(/jane|secret/);
});

test.each([
  ['403 Forbidden', /: it answers 403 Forbidden$/],
  ['407 Proxy Authentication Required', /: it answers 407 .*; it wants a user name and password in its address$/],
])('a proxy that answers %s: nothing was sent, and the message says by whom', async (status, expected) => {
  const [server, proxy] = [await serve(), await startProxy(status)];
  const error = await failureOf(text(connect(server, { proxy: proxy.url }), get()));
  expect(error.isUnprocessed).toBe(true);
  expect(describeError(error)).toContain(`through the proxy ${proxy.url.origin}: `);
  expect(describeError(error)).toMatch(expected);
  expect(server.sockets).toEqual([]);
});

test('the certificate of a proxy that has one is checked', async () => {
  const authority = await testAuthority('proxy');
  const secure = tls.createServer(await testServerPair(authority), (socket) => socket.destroy());
  secure.on('tlsClientError', () => {}).listen(0, '127.0.0.1');
  await once(secure, 'listening');
  onTestFinished(() => void secure.close());
  const server = await serve();
  const proxy = new URL(`https://127.0.0.1:${(secure.address() as AddressInfo).port}`);
  const error = await failureOf(text(connect(server, { proxy }), get()));
  expect(describeError(error)).toMatch(/through the proxy https:\/\/127\.0\.0\.1:\d+: .*certificate/);
});

test('a proxy that says nothing is given up after ten seconds, and at once when nobody waits any more', async () => {
  const sockets: net.Socket[] = [];
  const mute = net.createServer((socket) => void sockets.push(socket.on('error', () => {})));
  mute.listen(0, '127.0.0.1');
  await once(mute, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    mute.close();
  });
  const proxy = new URL(`http://127.0.0.1:${(mute.address() as AddressInfo).port}`);
  const clock = createVirtualClock(0);
  const dial = (signal: AbortSignal) =>
    failureOf(
      dialTls({ server: new URL('https://api.example'), material: {}, protocols: ['h2'], clock, signal, proxy }),
    );
  const patient = dial(new AbortController().signal);
  await once(mute, 'connection');
  await clock.advance(10_000);
  expect(describeError(await patient)).toMatch(
    /^Cannot connect to the API server at https:\/\/api\.example through the proxy http:\/\/127\.0\.0\.1:\d+: no answer within 10 s$/,
  );
  const stop = new AbortController();
  const stopped = dial(stop.signal);
  await once(mute, 'connection');
  stop.abort(new Error('stopped'));
  expect(describeError(await stopped)).toContain('stopped');
});
