import type { ServerResponse } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { createSystemClock } from '../../lib/clock.ts';
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
