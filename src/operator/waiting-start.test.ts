/** A start while the API server does not answer: it is waited for, alive and not ready. */
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { KubeApi } from '../api/kube-api.ts';
import { KubeError } from '../api/kube-error.ts';
import { createApiServer } from '../cluster/apiserver/api-server.ts';
import { configOf } from '../config/testing/load-text.ts';
import { RequestTimeoutError } from '../kube/deadline.ts';
import { ConnectionError } from '../kube/transport/transport.ts';
import { createSystemClock } from '../lib/clock.ts';
import { listen } from '../lib/listen.ts';
import { createLogger } from '../lib/log.ts';
import { createSystemRandom } from '../lib/random.ts';
import { eventually } from '../lib/testing/eventually.ts';
import { startOperator } from '../wire.ts';
import type { KeyPairSource } from './key-pair-source.ts';
import { createWorld } from './testing/certificate-world.ts';

const MINUTE = 60_000;
const down = (): Promise<never> => Promise.reject(new ConnectionError('Cannot connect to the API server'));

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server, { host: '127.0.0.1', port: 0 }, 'test');
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test.each([
  ['no connection', new ConnectionError('Cannot connect to the API server')],
  ['no answer in time', new RequestTimeoutError('GET secrets', 35_000)],
  ['etcd is away', new KubeError(500, undefined, 'etcdserver: request timed out')],
  ['it is busy', new KubeError(429, undefined, 'too many requests')],
])('an API server in an outage (%s) is waited for, and asked again every few seconds', async (_, trouble) => {
  const { api, clock, register, settle, obtain } = await createWorld();
  await register();
  let asked = 0;
  let isOver = false;
  const get: KubeApi['get'] = async (...args) => {
    asked++;
    if (!isOver) throw trouble;
    return await api.get(...args);
  };
  let source: KeyPairSource | undefined;
  const starting = obtain(false, { ...api, get }).then((found) => {
    source = found;
  });
  await clock.advance(10 * MINUTE);
  expect([asked > 60, asked < 200]).toEqual([true, true]);
  isOver = true;
  await settle(() => source !== undefined, 1_000);
  await starting;
  expect(source?.problem()).toBeUndefined();
});

test('a start that waits for the API server, or for its answer, ends when it is told to', async () => {
  const { api, clock, obtain } = await createWorld();
  const stop = new AbortController();
  const hanging = (): Promise<never> => new Promise(() => {});
  const starting = [down, hanging].map((get) => obtain(true, { ...api, get }, stop.signal));
  const ended = Promise.allSettled(starting);
  await clock.advance(MINUTE);
  const reason = new Error('stopped');
  stop.abort(reason);
  expect(await ended).toEqual(starting.map(() => ({ status: 'rejected', reason })));
});

test('case 76: while it waits for an API server to have a certificate, it lives, says so, and ends when it is told to', async () => {
  const lines: string[] = [];
  const clock = createSystemClock();
  const log = createLogger({ level: 'info', format: 'json', clock, write: (line) => lines.push(line) });
  const server = createApiServer({ clock, random: createSystemRandom() });
  onTestFinished(() => server.close());
  const port = await freePort();
  const stop = new AbortController();
  const starting = startOperator({
    config: configOf('', {
      SPOTALIS_WEBHOOK_CERTIFICATES: 'self',
      SPOTALIS_HEALTH_BIND_ADDRESS: `127.0.0.1:${port}`,
    }),
    api: { ...server.client(), get: down },
    clock,
    random: createSystemRandom(),
    log,
    identity: 'test_1',
    signal: stop.signal,
  });
  const ended = expect(starting).rejects.toThrow('stopped');
  await eventually(async () => expect(lines.join('')).toContain('The start waits for the API server'));
  const ask = async (path: string) => await (await fetch(`http://127.0.0.1:${port}${path}`)).text();
  expect(await ask('/healthz')).toBe('ok');
  expect(await ask('/readyz')).toContain('certificate: it is not there yet');
  stop.abort(new Error('stopped'));
  await ended;
  await expect(ask('/healthz')).rejects.toThrow();
});
