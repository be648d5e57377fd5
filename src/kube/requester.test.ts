import { PassThrough } from 'node:stream';
import { describe, expect, test, vi } from 'vitest';
import { isBlockedByPdb, isNotFound, KubeError } from '../api/kube-error.ts';
import { resources } from '../api/resources.ts';
import { sleep } from '../lib/clock.ts';
import { eventually } from '../lib/testing/eventually.ts';
import type { createKubeApi } from './client.ts';
import { inTime, scriptedClient } from './testing/scripted-client.ts';
import { failure } from './testing/scripted-transport.ts';
import { ConnectionError } from './transport/transport.ts';

const pods = resources.pods;

describe('errors', () => {
  test('an error answer is a KubeError with the Status', async () => {
    const { api, scripted } = scriptedClient();
    scripted.answer = () => failure(404, 'NotFound');
    const error = await api.get(resources.nodes, 'n').catch((reason: unknown) => reason);
    expect(isNotFound(error)).toBe(true);
    expect(error).toMatchObject({ reason: 'NotFound', message: 'NotFound!', status: { code: 404 } });
  });

  test('an error of something in between, which speaks HTML, is quoted in short', async () => {
    const { api, scripted } = scriptedClient();
    scripted.answer = () => ({ status: 502, body: `<html>bad gateway${'x'.repeat(1_000)}` });
    const error = await api.get(resources.nodes, 'n').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(KubeError);
    expect(String(error)).toMatch(/HTTP 502: <html>bad gateway/);
    expect(String(error).length).toBeLessThan(400);
  });

  test('one that has no end is told by its beginning, and the rest is not waited for', async () => {
    let chunks = 0;
    function* endless(): Generator<Buffer> {
      for (; chunks < 10_000; chunks++) yield Buffer.alloc(1 << 16, 'x');
    }
    const { api, scripted } = scriptedClient();
    scripted.answer = () => ({ status: 502, body: { [Symbol.iterator]: endless } });
    await expect(api.get(resources.nodes, 'n')).rejects.toMatchObject({
      httpStatus: 502,
      message: expect.stringMatching(/^The API server answered HTTP 502: x{300}\.$/),
    });
    expect(chunks).toBeLessThan(100);
  });

  test('a redirect is not followed: it would carry the token elsewhere', async () => {
    const { api, scripted } = scriptedClient();
    scripted.answer = () => ({ status: 302, headers: { location: 'https://elsewhere' }, body: '' });
    await expect(api.get(resources.nodes, 'n')).rejects.toMatchObject({ httpStatus: 302 });
    expect(scripted.requests).toHaveLength(1);
  });
});

describe('credentials', () => {
  test('a source that hangs, such as a credential plugin, holds no call beyond its deadline', async () => {
    const { connection } = scriptedClient();
    const hanging = { current: () => new Promise<never>(() => {}), invalidate() {} };
    const { api, clock } = scriptedClient({ connection: { ...connection, credentials: hanging } });
    await expect(inTime(clock, api.get(resources.nodes, 'n'))).rejects.toMatchObject({ code: 'KUBE_REQUEST_TIMEOUT' });
  });
});

describe('retries', () => {
  test('429 with Retry-After: any method waits as asked and goes again', async () => {
    const { api, scripted, clock } = scriptedClient();
    const at: number[] = [];
    scripted.answer = (_, call) => {
      at.push(clock.now());
      return call < 3 ? failure(429, 'TooManyRequests', { retryAfter: '2' }) : { body: {} };
    };
    const start = clock.now();
    await inTime(clock, api.create(pods, {}, { namespace: 'ns' }));
    expect(at.map((time) => time - start)).toEqual([0, 2_000, 4_000]);
  });

  test('the waits of one call are bounded: then the caller gets the 429', async () => {
    const { api, scripted, clock } = scriptedClient();
    scripted.answer = () => failure(429, 'TooManyRequests', { retryAfter: '10' });
    await expect(inTime(clock, api.get(resources.nodes, 'n'))).rejects.toMatchObject({
      httpStatus: 429,
      retryAfterMillis: 10_000,
    });
    expect(scripted.requests).toHaveLength(2);
  });

  test('a server that says to come back at once is asked five times, not without end', async () => {
    const { api, scripted, clock } = scriptedClient();
    scripted.answer = () => failure(429, 'TooManyRequests', { retryAfter: '0' });
    await expect(inTime(clock, api.get(resources.nodes, 'n'))).rejects.toMatchObject({ httpStatus: 429 });
    expect(scripted.requests).toHaveLength(5);
  });

  test('Retry-After as a date', async () => {
    const { api, scripted, clock } = scriptedClient();
    const date = new Date(clock.now() + 3_000).toUTCString();
    scripted.answer = (_, call) =>
      call === 1 ? failure(503, 'ServiceUnavailable', { retryAfter: date }) : { body: { kind: 'Node' } };
    const start = clock.now();
    await inTime(clock, api.get(resources.nodes, 'n'));
    expect(clock.now() - start).toBeGreaterThanOrEqual(3_000);
  });

  test.each([
    [
      'a write that met 503',
      (api) => api.create(pods, {}, { namespace: 'n' }),
      failure(503, 'ServiceUnavailable', { retryAfter: '1' }),
    ],
    ['a 429 without Retry-After', (api) => api.get(resources.nodes, 'n'), failure(429, 'TooManyRequests')],
    ['a 500', (api) => api.get(resources.nodes, 'n'), failure(500, 'InternalError', { retryAfter: '1' })],
    ['a conflict', (api) => api.get(resources.nodes, 'n'), failure(409, 'Conflict')],
  ] as [string, (api: ReturnType<typeof createKubeApi>) => Promise<unknown>, object][])(
    '%s is not sent again',
    async (_, call, answer) => {
      const { api, scripted, clock } = scriptedClient();
      scripted.answer = () => answer;
      await expect(inTime(clock, call(api))).rejects.toBeInstanceOf(KubeError);
      expect(scripted.requests).toHaveLength(1);
    },
  );

  test('an eviction refused by a PodDisruptionBudget is not throttling and comes back at once', async () => {
    const { api, scripted } = scriptedClient();
    scripted.answer = () => failure(429, 'TooManyRequests', { retryAfter: '10', causes: ['DisruptionBudget'] });
    const error = await api
      .createSubresource(pods, 'p', 'eviction', {}, { namespace: 'n' })
      .catch((reason: unknown) => reason);
    expect(isBlockedByPdb(error)).toBe(true);
    expect(scripted.requests).toHaveLength(1);
  });

  test('a read goes again over a broken connection, three times in all', async () => {
    const { api, scripted, clock } = scriptedClient();
    scripted.answer = (_, call) => {
      if (call < 3) throw new ConnectionError('reset');
      return { body: { kind: 'Node' } };
    };
    expect(await inTime(clock, api.get(resources.nodes, 'n'))).toEqual({ kind: 'Node' });
    scripted.answer = () => {
      throw new ConnectionError('reset');
    };
    await expect(inTime(clock, api.get(resources.nodes, 'n'))).rejects.toThrow('reset');
    expect(scripted.requests).toHaveLength(6);
  });

  test('an attempt that brought no answer is reported with status 0, and the next one as well', async () => {
    const told: (readonly [number, number])[] = [];
    const { api, scripted, clock } = scriptedClient({
      onRequest: ({ status, durationMillis }) => told.push([status, durationMillis]),
    });
    scripted.answer = async (_, call) => {
      await sleep(clock, 70);
      if (call === 1) throw new ConnectionError('reset');
      return { body: { kind: 'Node' } };
    };
    await inTime(clock, api.get(resources.nodes, 'n'));
    expect(told).toEqual([
      [0, 70],
      [200, 70],
    ]);
  });

  test('a write is never sent again after a broken connection, unless the server certainly did nothing', async () => {
    const { api, scripted, clock } = scriptedClient();
    scripted.answer = () => {
      throw new ConnectionError('reset');
    };
    await expect(inTime(clock, api.create(pods, {}, { namespace: 'n' }))).rejects.toThrow('reset');
    expect(scripted.requests).toHaveLength(1);
    scripted.answer = (_, call) => {
      if (call === 2) throw new ConnectionError('going away', { isUnprocessed: true });
      return { body: {} };
    };
    await inTime(clock, api.create(pods, {}, { namespace: 'n' }));
    expect(scripted.requests).toHaveLength(3);
  });

  test('token rotation: a 401 refuses exactly these credentials and tries once with new ones', async () => {
    const { api, scripted, refused, useCredentials } = scriptedClient();
    scripted.answer = ({ headers }) => {
      if (headers['authorization'] === 'Bearer second') return { body: { kind: 'Node' } };
      useCredentials({ token: 'second' });
      return failure(401, 'Unauthorized');
    };
    await api.get(resources.nodes, 'n');
    expect(refused).toEqual([{ token: 'first' }]);
    scripted.answer = () => failure(401, 'Unauthorized');
    await expect(api.get(resources.nodes, 'n')).rejects.toMatchObject({ httpStatus: 401 });
    expect(scripted.requests).toHaveLength(4);
  });

  test('a call without an answer ends at its deadline, and its request is aborted', async () => {
    const { api, scripted, clock } = scriptedClient();
    scripted.answer = ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const call = api.get(resources.nodes, 'n').catch((reason: unknown) => reason);
    await clock.advance(35_000);
    expect(await call).toMatchObject({ code: 'KUBE_REQUEST_TIMEOUT' });
    expect(clock.pendingTimers()).toBe(0);
  });

  test('an answer that stalls in the middle ends at the deadline as well', async () => {
    const { api, scripted, clock } = scriptedClient();
    const body = new PassThrough();
    body.write('{"kind":');
    scripted.answer = () => ({ body });
    const ended = vi.fn<(error: unknown) => void>();
    void api.get(resources.nodes, 'n').catch(ended);
    await clock.advance(34_999);
    expect(ended).not.toHaveBeenCalled();
    await clock.advance(1);
    await eventually(() => expect(ended).toHaveBeenCalled());
    expect(ended.mock.calls[0]?.[0]).toMatchObject({ code: 'KUBE_REQUEST_TIMEOUT' });
    expect(body.destroyed).toBe(true);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('the caller’s abort ends a call wherever it is, and leaves no timer', async () => {
    const { api, scripted, clock } = scriptedClient();
    scripted.answer = () => failure(429, 'TooManyRequests', { retryAfter: '5' });
    const stop = new AbortController();
    const call = api.get(resources.nodes, 'n', { signal: stop.signal }).catch((reason: unknown) => reason);
    await clock.advance(1_000);
    stop.abort(new Error('stop'));
    expect(await call).toMatchObject({ message: 'stop' });
    await clock.advance(0);
    expect(clock.pendingTimers()).toBe(0);
  });
});
