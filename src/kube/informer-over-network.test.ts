import { afterEach, expect, test } from 'vitest';
import { resources } from '../api/resources.ts';
import { createSystemClock } from '../lib/clock.ts';
import { createSilentLogger } from '../lib/log.ts';
import { createSystemRandom } from '../lib/random.ts';
import { eventually } from '../lib/testing/eventually.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createKubeApi } from './client.ts';
import { fixedTrust } from './connection.ts';
import { createInformer } from './informer.ts';
import { fixedCredentials } from './testing/fixed-credentials.ts';
import { startFreezableProxy } from './testing/freezable-proxy.ts';
import { added, bookmark, errorEvent, initialEventsEnd, object } from './testing/scripted-api.ts';
import { type ScriptedResponse, type ScriptedServer, startScriptedServer } from './testing/scripted-server.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function follow(
  server: ScriptedServer,
  { port = server.port, clock = createSystemClock(), useWatchList = true } = {},
) {
  const url = new URL(server.url);
  url.port = String(port);
  const api = createKubeApi({
    connection: {
      server: url,
      description: 'test',
      namespace: 'default',
      credentials: fixedCredentials({ token: 't' }),
      trust: fixedTrust(server.ca === '' ? {} : { ca: server.ca }),
    },
    clock,
    random: createSystemRandom(),
    log: createSilentLogger(),
  });
  const informer = createInformer({
    api,
    type: resources.pods,
    project: ({ metadata }) => metadata?.name,
    clock,
    random: createSystemRandom(),
    log: createSilentLogger(),
    useWatchList,
    pageSize: 2,
  });
  const stop = new AbortController();
  const ended = informer.run(stop.signal);
  cleanUps.push(async () => {
    stop.abort();
    await ended;
    api.close();
  });
  return { informer, names: () => [...informer.store.values()].sort() };
}

const query = (url: string | undefined): URLSearchParams => new URL(url ?? '', 'https://x').searchParams;
const line = (event: object): string => `${JSON.stringify(event)}\n`;

test.each(['h2', 'http/1.1', 'plain'] as const)(
  'over %s: pages cut inside a character, then the watch, then 410 and all again',
  async (protocol) => {
    const server = await startScriptedServer({ protocol });
    cleanUps.push(() => server.close());
    let generation = 1;
    const watches: ScriptedResponse[] = [];
    server.handler = (request, response) => {
      const asked = query(request.url);
      if (asked.has('watch')) {
        watches.push(response);
        response.write(line(bookmark(generation * 100 + 1)));
        return;
      }
      const isSecond = asked.get('continue') === 'next';
      const items = isSecond ? [object(`third-${generation}`, 3)] : [object('äöü', 1), object('€𝄞', 2)];
      const bytes = Buffer.from(
        JSON.stringify({
          metadata: { resourceVersion: `${generation * 100}`, ...(!isSecond && { continue: 'next' }) },
          items,
        }),
      );
      // One byte a chunk is the worst a network can do.
      for (const byte of bytes) response.write(Buffer.of(byte) as unknown as string);
      response.end();
    };
    const { informer, names } = await follow(server, { useWatchList: false });
    await informer.onSynced;
    expect(names()).toEqual(['third-1', 'äöü', '€𝄞'].sort());
    await eventually(() => expect(watches).toHaveLength(1));
    watches[0]?.write(line(added('fourth', 102)));
    await eventually(() => expect(names()).toContain('fourth'));
    generation = 2;
    watches[0]?.write(line(errorEvent({ code: 410, reason: 'Expired' })));
    await eventually(() => expect(names()).toEqual(['third-2', 'äöü', '€𝄞'].sort()));
    expect(informer.freshness()).toBe('fresh');
  },
);

test('hazard H34: bug 39: WatchList over the wire: frozen, found stale by the ping, and fresh again over a new connection', async () => {
  const server = await startScriptedServer();
  const proxy = await startFreezableProxy(server.port);
  cleanUps.push(
    () => server.close(),
    () => proxy.close(),
  );
  let opened = 0;
  server.handler = (request, response) => {
    const asked = query(request.url);
    opened++;
    if (asked.has('sendInitialEvents')) response.write(line(added('a', 1)) + line(initialEventsEnd(10)));
    else response.write(line(added('b', 20)) + line(bookmark(Number(asked.get('resourceVersion')) + 100)));
  };
  const clock = createVirtualClock(Date.now());
  const { informer, names } = await follow(server, { port: proxy.port, clock });
  await informer.onSynced;
  expect(names()).toEqual(['a']);
  proxy.freeze();
  await clock.advance(30_000);
  expect(informer.freshness()).toBe('fresh');
  await clock.advance(15_000);
  await eventually(() => expect(names()).toEqual(['a', 'b']));
  expect(informer.freshness()).toBe('stale');
  await clock.advance(1_000);
  expect(informer.freshness()).toBe('fresh');
  expect([opened, proxy.connections]).toEqual([2, 2]);
});

test('no listing is asked for while a server keeps refusing the token', async () => {
  const server = await startScriptedServer();
  cleanUps.push(() => server.close());
  let asked = 0;
  server.handler = (_, response) => {
    asked++;
    response.statusCode = 401;
    response.end('{"kind":"Status","code":401,"reason":"Unauthorized"}');
  };
  // Its time stands still: no backoff ends, however long the machine takes.
  const { informer } = await follow(server, { clock: createVirtualClock(Date.now()) });
  await eventually(() => expect(informer.lastError()).toMatchObject({ httpStatus: 401 }));
  // Once with the credentials at hand and once with new ones; then the backoff.
  expect(asked).toBe(2);
  expect(informer.freshness()).toBe('initial');
});
