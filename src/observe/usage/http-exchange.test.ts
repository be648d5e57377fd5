import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startConnectProxy } from '../../kube/testing/connect-proxy.ts';
import { createSystemClock } from '../../lib/clock.ts';
import { http } from '../../lib/node-http.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { createHttpExchange } from './http-exchange.ts';
import { REAL_PATIENCE_MILLIS, serve } from './testing/http-source.ts';

test('a request by another authority cuts off none that is under way to the same server', async () => {
  const held = Promise.withResolvers<ServerResponse>();
  const { url, ca = '' } = await serve(
    ({ path }, response) => {
      if (path === '/slow') held.resolve(response);
      else response.end('quick');
    },
    { tls: true },
  );
  const exchange = createHttpExchange({
    clock: createSystemClock(),
    timeoutMillis: REAL_PATIENCE_MILLIS,
    maxBytes: 1 << 20,
  });
  onTestFinished(() => exchange.close());
  const { signal } = new AbortController();
  const get = (path: string, authorities: string) =>
    exchange.send({ url: new URL(path, url), method: 'GET', headers: {} }, authorities, signal);
  const slow = get('/slow', ca);
  const response = await held.promise;
  expect(await get('/quick', `${ca}\n${ca}`)).toMatchObject({ ok: true, status: 200 });
  response.end('slow');
  expect(await slow).toMatchObject({ ok: true, status: 200 });
});

test('connections to a server that nobody asks any more are closed once another is asked', async () => {
  const clock = createVirtualClock(0);
  const exchange = createHttpExchange({ clock, timeoutMillis: REAL_PATIENCE_MILLIS, maxBytes: 1 << 20 });
  onTestFinished(() => exchange.close());
  const serveAlone = async (): Promise<{ readonly url: URL; readonly connected: Promise<Socket> }> => {
    const server = http.createServer((_, response) => void response.end('well'));
    const connected = once(server, 'connection').then(([socket]) => socket as Socket);
    server.keepAliveTimeout = 0;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    return { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), connected };
  };
  const get = async ({ url }: { readonly url: URL }) =>
    exchange.send({ url, method: 'GET', headers: {} }, undefined, new AbortController().signal);
  const [left, kept, next, last] = [await serveAlone(), await serveAlone(), await serveAlone(), await serveAlone()];
  await get(left);
  await get(kept);
  const [ofLeft, ofKept] = [await left.connected, await kept.connected];
  await clock.advance(1_799_999);
  await get(kept);
  await get(next);
  expect(ofLeft.destroyed).toBe(false);
  await clock.advance(1);
  const isClosed = once(ofLeft, 'close');
  await get(last);
  await isClosed;
  expect(ofKept.destroyed).toBe(false);
});

describe('behind a proxy', () => {
  async function throughProxy(status?: string) {
    const proxy = await startConnectProxy(status);
    onTestFinished(() => proxy.close());
    const exchange = createHttpExchange({
      clock: createSystemClock(),
      timeoutMillis: REAL_PATIENCE_MILLIS,
      maxBytes: 1 << 20,
      proxyOf: () => proxy.url,
    });
    onTestFinished(() => exchange.close());
    const get = (url: URL, ca?: string) =>
      exchange.send({ url, method: 'GET', headers: {} }, ca, new AbortController().signal);
    return { proxy, get };
  }

  test('a source is reached through it, over connections that are used again, and its own certificate is checked', async () => {
    const { url, ca, received } = await serve((_, response) => response.end('well'), { tls: true });
    const { proxy, get } = await throughProxy();
    for (let round = 0; round < 3; round++) expect(await get(url, ca)).toMatchObject({ ok: true, status: 200 });
    expect([proxy.targets, received.length]).toEqual([[url.host], 3]);
    expect(await get(url)).toMatchObject({
      ok: false,
      problem: { reason: 'Unreachable', message: expect.stringContaining('its certificate is not trusted') },
    });
    expect(received).toHaveLength(3);
  });

  test('that does not let through, it is told by whom', async () => {
    const { url, ca, received } = await serve((_, response) => response.end('well'), { tls: true });
    const { proxy, get } = await throughProxy('403 Forbidden');
    const answer = await get(url, ca);
    expect(answer).toMatchObject({ ok: false, problem: { reason: 'Unreachable' } });
    const message = answer.ok ? '' : answer.problem.message;
    expect(message).toContain(`through the proxy ${proxy.url.origin}: it answers 403 Forbidden`);
    expect(received).toEqual([]);
  });

  test('a plain server is asked directly', async () => {
    const { url } = await serve((_, response) => response.end('well'));
    const { proxy, get } = await throughProxy();
    expect(await get(url)).toMatchObject({ ok: true, status: 200 });
    expect(proxy.targets).toEqual([]);
  });
});
