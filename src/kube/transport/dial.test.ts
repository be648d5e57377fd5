import { once } from 'node:events';
import net, { type AddressInfo, type Server } from 'node:net';
import tls from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import type { Authority } from '../../lib/certificates.ts';
import { eventually } from '../../lib/testing/eventually.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { testAuthority, testServerPair } from '../testing/scripted-server.ts';
import { createTransport } from './create-transport.ts';
import { hostOf, portOf, tlsOptions } from './dial.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** A server that accepts connections and never says a word of its protocol. */
async function mute(server: Server): Promise<{ port: number; accepted: () => number; open: () => number }> {
  let accepted = 0;
  const sockets: net.Socket[] = [];
  const keep = (socket: net.Socket): void => {
    sockets.push(socket);
    socket.on('error', () => {});
  };
  server.on('connection', keep).on('secureConnection', keep);
  server.on(server instanceof tls.Server ? 'secureConnection' : 'connection', (socket: net.Socket) => {
    accepted++;
    // Unread, it would not hear that the other side is gone.
    socket.resume();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUps.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  return {
    port: (server.address() as AddressInfo).port,
    accepted: () => accepted,
    open: () => sockets.filter((socket) => !socket.destroyed).length,
  };
}

async function muteOptions(authority: Authority): Promise<tls.TlsOptions> {
  return { ...(await testServerPair(authority)), ALPNProtocols: ['h2'] };
}

function ask(port: number, ca: string) {
  const clock = createVirtualClock(Date.now());
  const transport = createTransport({
    server: new URL(`https://127.0.0.1:${port}`),
    clock,
    material: async () => ({ ca }),
    onUntrusted() {},
  });
  cleanUps.push(() => transport.close());
  const signal = new AbortController().signal;
  const failed = transport
    .request({ method: 'POST', path: '/', headers: {}, lane: 'control', signal })
    .catch((error: unknown) => error);
  return { clock, failed, transport };
}

test('a server that accepts connections but no TLS: given up after 10 s, nothing was sent', async () => {
  const { port, accepted } = await mute(net.createServer());
  const { clock, failed } = ask(port, '');
  await eventually(() => expect(accepted()).toBe(1));
  await clock.advance(10_000);
  expect(await failed).toMatchObject({
    code: 'KUBE_CONNECTION',
    isUnprocessed: true,
    cause: { message: 'no answer within 10 s' },
  });
  expect(clock.pendingTimers()).toBe(0);
});

test('a server that agrees on HTTP/2 but does not begin it: given up after 10 s, nothing was sent', async () => {
  const authority = await testAuthority();
  const server = tls.createServer(await muteOptions(authority));
  const { port, accepted } = await mute(server);
  const { clock, failed } = ask(port, authority.certificatePem);
  await eventually(() => expect(accepted()).toBe(1));
  await eventually(() => expect(clock.pendingTimers()).toBe(2));
  await clock.advance(10_000);
  expect(await failed).toMatchObject({
    code: 'KUBE_CONNECTION',
    isUnprocessed: true,
    message: expect.stringContaining('did not begin it'),
  });
  expect(clock.pendingTimers()).toBe(0);
});

test.each(['TLS', 'HTTP/2'])(
  'closing ends a connection on which %s was not begun yet, and what waits for it',
  async (missing) => {
    const authority = await testAuthority();
    const { port, accepted, open } = await mute(
      missing === 'TLS' ? net.createServer() : tls.createServer(await muteOptions(authority)),
    );
    const { clock, failed, transport } = ask(port, authority.certificatePem);
    await eventually(() => expect(accepted()).toBe(1));
    transport.close();
    expect(await failed).toMatchObject({ code: 'KUBE_CONNECTION', message: 'The client was closed.' });
    await eventually(() => expect(open()).toBe(0));
    expect([accepted(), clock.pendingTimers()]).toEqual([1, 0]);
  },
);

test.each([
  ['https://api.example', 'api.example', 443, 'api.example'],
  ['http://api.example', 'api.example', 80, 'api.example'],
  ['https://10.0.0.1:6443', '10.0.0.1', 6443, undefined],
  ['https://[fd00::1]:6443', 'fd00::1', 6443, undefined],
])('%s: host, port and the name asked for in the handshake (never an address)', (url, host, port, name) => {
  const server = new URL(url);
  expect([hostOf(server), portOf(server), tlsOptions(server, {}).servername]).toEqual([host, port, name]);
  expect(tlsOptions(server, { serverName: 'inner' }).servername).toBe('inner');
});

test('where nobody vouches for the server, root certificates that were not read yet are read once for all its connections', () => {
  const server = new URL('https://api.example');
  const flags = process.execArgv;
  process.execArgv = [...flags, '--use-openssl-ca'];
  cleanUps.push(() => {
    process.execArgv = flags;
  });
  for (const material of [{}, { ca: '' }]) {
    const { secureContext, ca, servername } = tlsOptions(server, material);
    expect([secureContext === undefined, ca, servername]).toEqual([false, undefined, 'api.example']);
  }
  expect(tlsOptions(server, { ca: 'PEM' })).toMatchObject({ ca: 'PEM', minVersion: 'TLSv1.2' });
  expect(tlsOptions(server, { ca: 'PEM' }).secureContext).toBeUndefined();
});
