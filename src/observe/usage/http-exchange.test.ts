import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
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
