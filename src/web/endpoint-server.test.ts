import { once } from 'node:events';
import { get } from 'node:https';
import { connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createAuthority, issueServerCertificate } from '../lib/certificates.ts';
import { createSilentLogger } from '../lib/log.ts';
import { type EndpointServerOptions, jsonAnswer, startEndpointServer } from './endpoint-server.ts';
import { createReadyz, healthz } from './health.ts';

async function start(endpoints: EndpointServerOptions['endpoints']): Promise<string> {
  const address = { host: '127.0.0.1', port: 0 };
  const server = await startEndpointServer({ name: 'test', address, endpoints, log: createSilentLogger() });
  onTestFinished(() => server.close());
  return `http://127.0.0.1:${server.port}`;
}

describe('with a certificate', () => {
  const validity = { notBeforeMillis: Date.UTC(2020, 0, 1), notAfterMillis: Date.UTC(2100, 0, 1) };
  const pair = async () => {
    const authority = await createAuthority({ commonName: 'ca', ...validity });
    const leaf = await issueServerCertificate(authority, { commonName: 'x', dnsNames: ['localhost'], ...validity });
    return { ca: authority.certificatePem, cert: leaf.certificatePem, key: leaf.privateKeyPem };
  };
  const statusOver = (port: number, ca: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      get({ host: 'localhost', port, path: '/healthz', ca, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).on('error', reject);
    });

  test('it speaks HTTPS only, and serves a new one to new connections', async () => {
    const [first, second] = await Promise.all([pair(), pair()]);
    let served = first;
    let tell = (): void => {};
    const server = await startEndpointServer({
      name: 'test',
      address: { host: 'localhost', port: 0 },
      endpoints: { '/healthz': healthz },
      certificate: {
        current: () => served,
        onChange: (listener) => {
          tell = listener;
        },
      },
      log: createSilentLogger(),
    });
    onTestFinished(() => server.close());
    expect(await statusOver(server.port, first.ca)).toBe(200);
    await expect(fetch(`http://localhost:${server.port}/healthz`)).rejects.toThrow();
    await expect(statusOver(server.port, second.ca)).rejects.toThrow(/certificate/);
    served = second;
    tell();
    expect(await statusOver(server.port, second.ca)).toBe(200);
  });

  test('a connection that never speaks TLS does not keep it from closing', async () => {
    const served = await pair();
    const server = await startEndpointServer({
      name: 'test',
      address: { host: 'localhost', port: 0 },
      endpoints: { '/healthz': healthz },
      certificate: { current: () => served, onChange: () => {} },
      log: createSilentLogger(),
    });
    const socket = connect(server.port, 'localhost');
    const closed = once(socket.resume(), 'close');
    socket.on('error', () => {});
    await once(socket, 'connect');
    // Connections are accepted in order: the server has the silent one, too.
    expect(await statusOver(server.port, served.ca)).toBe(200);
    await Promise.all([server.close(), closed]);
  });
});

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

  test('what is not allowed says what is', async () => {
    const url = await start({ '/healthz': healthz });
    const allowed = async (method: string) => (await fetch(`${url}/healthz`, { method })).headers.get('allow');
    expect(await allowed('DELETE')).toBe('GET, HEAD');
    expect(await allowed('GET')).toBeNull();
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

  test('an answer in pieces is sent as it comes; who asks for the head alone has none made', async () => {
    const piece = 'x'.repeat(100_000);
    let made = 0;
    async function* pieces(): AsyncGenerator<string> {
      for (; made < 100; made++) yield piece;
    }
    const url = await start({ '/text': () => ({ status: 200, contentType: 'text/plain', body: pieces() }) });
    const head = await fetch(`${url}/text`, { method: 'HEAD' });
    expect([head.status, made]).toEqual([200, 0]);
    expect(await (await fetch(`${url}/text`)).text()).toBe(piece.repeat(100));
  });

  test('an answer that breaks off is not taken for the whole, and the server goes on', async () => {
    async function* pieces(): AsyncGenerator<string> {
      yield 'half';
      throw new Error('secret');
    }
    const url = await start({
      '/healthz': healthz,
      '/text': () => ({ status: 200, contentType: 'text/plain', body: pieces() }),
    });
    await expect(fetch(`${url}/text`).then((response) => response.text())).rejects.toThrow();
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  test('an endpoint learns that who asked has left', async () => {
    let leave = (): void => {};
    const left = new Promise<void>((resolve) => {
      leave = resolve;
    });
    const url = await start({
      '/news': (_query, gone) => {
        gone.addEventListener('abort', () => leave(), { once: true });
        async function* news(): AsyncGenerator<string> {
          yield 'one';
          await left;
        }
        return { status: 200, contentType: 'text/plain', body: news() };
      },
    });
    const reader = (await fetch(`${url}/news`)).body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await left;
  });

  test('an answer in pieces can be broken off although nobody reads it', async () => {
    const slow = new AbortController();
    async function* flood(): AsyncGenerator<string> {
      for (;;) yield 'x'.repeat(100_000);
    }
    const url = await start({
      '/flood': () => ({ status: 200, contentType: 'text/plain', body: flood(), signal: slow.signal }),
      '/healthz': healthz,
    });
    const response = await fetch(`${url}/flood`);
    slow.abort();
    await expect(response.text()).rejects.toThrow();
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  test('who takes nothing of an answer is let go of: what waits for him would wait for ever', async () => {
    const gone = Promise.withResolvers<void>();
    const address = { host: '127.0.0.1', port: 0 };
    const server = await startEndpointServer({
      name: 'test',
      address,
      endpoints: {
        '/large': (_query, signal) => {
          signal.addEventListener('abort', () => gone.resolve(), { once: true });
          return { status: 200, contentType: 'text/plain', body: 'x'.repeat(64 << 20) };
        },
      },
      stuckAfterMillis: 50,
      log: createSilentLogger(),
    });
    onTestFinished(() => server.close());
    const socket = connect(server.port, '127.0.0.1');
    socket.on('error', () => {});
    onTestFinished(() => void socket.destroy());
    socket.pause();
    socket.write('GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await gone.promise;
  });

  test('headers of the server are on every answer, errors too', async () => {
    const address = { host: '127.0.0.1', port: 0 };
    const server = await startEndpointServer({
      name: 'test',
      address,
      endpoints: { '/healthz': healthz },
      headers: { 'X-Frame-Options': 'DENY' },
      log: createSilentLogger(),
    });
    onTestFinished(() => server.close());
    for (const path of ['/healthz', '/nowhere']) {
      const { headers } = await fetch(`http://127.0.0.1:${server.port}${path}`);
      expect([headers.get('x-frame-options'), headers.get('x-content-type-options')]).toEqual(['DENY', 'nosniff']);
    }
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
