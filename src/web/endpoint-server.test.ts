import { describe, expect, onTestFinished, test } from 'vitest';
import { createSilentLogger } from '../lib/log.ts';
import { type Endpoint, jsonAnswer, startEndpointServer } from './endpoint-server.ts';
import { createReadyz, healthz } from './health.ts';

async function start(endpoints: Record<string, Endpoint>): Promise<string> {
  const address = { host: '127.0.0.1', port: 0 };
  const server = await startEndpointServer({ name: 'test', address, endpoints, log: createSilentLogger() });
  onTestFinished(() => server.close());
  return `http://127.0.0.1:${server.port}`;
}

describe('startEndpointServer', () => {
  test('answers a path with its query, uncached', async () => {
    const url = await start({ '/explain': (query) => jsonAnswer(200, { asked: query.get('workload') }) });
    const response = await fetch(`${url}/explain?workload=Deployment%2Fshop%2Fweb`);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.json()).toEqual({ asked: 'Deployment/shop/web' });
  });

  test.each([
    ['GET', '/nowhere', 404],
    ['GET', '/constructor', 404],
    ['POST', '/healthz', 405],
    ['HEAD', '/healthz', 200],
  ])('%s %s is %i', async (method, path, status) => {
    const url = await start({ '/healthz': healthz });
    expect((await fetch(url + path, { method })).status).toBe(status);
  });

  test('an endpoint that fails gives 500 without its message, and the server goes on', async () => {
    const url = await start({
      '/healthz': healthz,
      '/bad': () => {
        throw new Error('secret');
      },
    });
    const response = await fetch(`${url}/bad`);
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('secret');
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  test('a taken port is named', async () => {
    const url = new URL(await start({}));
    const address = { host: '127.0.0.1', port: Number(url.port) };
    await expect(
      startEndpointServer({ name: 'health', address, endpoints: {}, log: createSilentLogger() }),
    ).rejects.toThrow(`The health server cannot listen on 127.0.0.1:${url.port}`);
  });
});

describe('case 76: health', () => {
  test('healthz contains ok', async () => {
    const url = await start({ '/healthz': healthz });
    expect(await (await fetch(`${url}/healthz`)).text()).toContain('ok');
  });

  test('readyz is 500 with every missing condition, then 200', async () => {
    const missing: Record<string, string | undefined> = {
      caches: 'pods not listed yet',
      certificate: undefined,
      lease: 'stopped',
    };
    const checks = Object.fromEntries(Object.keys(missing).map((name) => [name, () => missing[name]]));
    const url = await start({ '/readyz': createReadyz(checks) });
    const notReady = await fetch(`${url}/readyz`);
    expect(notReady.status).toBe(500);
    expect(await notReady.text()).toBe('not ready\ncaches: pods not listed yet\nlease: stopped\n');
    missing.caches = undefined;
    missing.lease = undefined;
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  });
});
