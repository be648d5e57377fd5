import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createVirtualClock } from '../../../lib/virtual-clock.ts';
import { both, request, signal } from '../testing/asked-prometheus.ts';
import { prometheusAt, type Respond, serve } from '../testing/http-source.ts';

describe('credentials and TLS', () => {
  test('headers go along, the authority is checked', async () => {
    const server = await serve(both, { tls: true });
    const headers = { authorization: 'Bearer secret-token', 'x-scope-orgid': 'shop' };
    const answer = await prometheusAt(server.url, { credentials: { headers, ca: server.ca } }).fetch(request(), signal);
    expect(answer.ok).toBe(true);
    expect(server.received[0]?.headers).toMatchObject(headers);
  });

  test('a server whose certificate is not trusted gets nothing', async () => {
    const server = await serve(both, { tls: true });
    const headers = { authorization: 'Bearer secret-token' };
    const answer = await prometheusAt(server.url, { credentials: { headers } }).fetch(request(), signal);
    expect(answer).toMatchObject({
      ok: false,
      problem: { reason: 'Unreachable', message: expect.stringContaining('not trusted') },
    });
    expect(server.received).toEqual([]);
  });

  test.each([
    [401, 'Unauthorized'],
    [403, 'Unauthorized'],
    [404, 'Rejected'],
    [400, 'Rejected'],
    [413, 'Rejected'],
    [422, 'Rejected'],
    [429, 'Unreachable'],
    [500, 'Unreachable'],
    [503, 'Unreachable'],
  ])('HTTP %i is %s; its page is not shown, and no secret is', async (status, reason) => {
    const server = await serve((_, response) => void response.writeHead(status).end('<html>internal page</html>'));
    const headers = { authorization: 'Bearer secret-token' };
    const answer = await prometheusAt(server.url, { credentials: { headers } }).fetch(request(), signal);
    expect(answer).toMatchObject({
      ok: false,
      problem: { reason, message: expect.stringContaining(`HTTP ${status}`) },
    });
    expect(JSON.stringify(answer)).not.toMatch(/secret-token|internal page/);
  });

  test('refused credentials are read anew the next time', async () => {
    const server = await serve((_, response) => void response.writeHead(401).end());
    let refused = 0;
    const reader = {
      read: () => Promise.resolve({ ok: true, credentials: { headers: {}, ca: undefined } } as const),
      refused: () => void refused++,
    };
    await prometheusAt(server.url, { reader }).fetch(request(), signal);
    expect(refused).toBe(1);
  });

  test('without credentials nothing is asked', async () => {
    const server = await serve(both);
    const problem = { reason: 'Misconfigured', message: 'no Secret' } as const;
    const reader = { read: () => Promise.resolve({ ok: false, problem } as const), refused: () => {} };
    expect(await prometheusAt(server.url, { reader }).fetch(request(), signal)).toEqual({ ok: false, problem });
    expect(server.received).toEqual([]);
  });
});

describe('servers that misbehave', () => {
  test.each([301, 302, 307, 308])('a redirect (%i) is not followed', async (status) => {
    const other = await serve(both);
    const server = await serve((_, response) => void response.writeHead(status, { location: other.url.href }).end());
    const answer = await prometheusAt(server.url).fetch(request(), signal);
    expect(answer).toMatchObject({
      ok: false,
      problem: { reason: 'Rejected', message: expect.stringContaining('redirect') },
    });
    expect(other.received).toEqual([]);
  });

  test('nobody listens', async () => {
    const answer = await prometheusAt(new URL('http://127.0.0.1:1')).fetch(request(), signal);
    expect(answer).toMatchObject({ ok: false, problem: { reason: 'Unreachable' } });
  });

  test('an answer that never comes ends at the timeout, and a server that trickles does, too', async () => {
    for (const respond of [
      () => {},
      (_: unknown, response: Parameters<Respond>[1]) => void response.write('{'),
    ] as Respond[]) {
      const clock = createVirtualClock(0);
      const server = await serve(respond);
      const pending = prometheusAt(server.url, { clock }).fetch(request(), signal);
      while (server.received.length === 0) await new Promise(setImmediate);
      await clock.advance(5_000);
      // The other question runs into its own.
      while (server.received.length === 1) await new Promise(setImmediate);
      await clock.advance(5_000);
      expect(await pending).toMatchObject({ ok: false, problem: { reason: 'TimedOut' } });
      expect(clock.pendingTimers()).toBe(0);
    }
  });

  test('a caller who gives up is told so at once', async () => {
    const controller = new AbortController();
    const server = await serve(() => {});
    const pending = prometheusAt(server.url).fetch(request(), controller.signal);
    while (server.received.length === 0) await new Promise(setImmediate);
    controller.abort(new Error('shutting down'));
    await expect(pending).rejects.toThrow('shutting down');
  });

  test('an answer that is too long is not read to its end', async () => {
    const server = await serve((_, response) => void response.end('x'.repeat(100_000)));
    const answer = await prometheusAt(server.url, { maxBytes: 10_000 }).fetch(request(), signal);
    expect(answer).toMatchObject({ ok: false, problem: { reason: 'TooLarge' } });
  });

  test('a connection that is cut in the middle of an answer', async () => {
    const server = await serve((_, response) => {
      response.writeHead(200, { 'content-length': 1000 });
      response.write('{"status":', () => response.destroy());
    });
    expect(await prometheusAt(server.url).fetch(request(), signal)).toMatchObject({
      ok: false,
      problem: { reason: 'Unreachable' },
    });
  });

  test.each(['<html>login</html>', '', '[]', '"text"', '{"status":"success"}', '{"status":"success","data":'])(
    'an answer of %j is malformed',
    async (body) => {
      const server = await serve((_, response) => void response.end(body));
      expect(await prometheusAt(server.url).fetch(request(), signal)).toMatchObject({
        ok: false,
        problem: { reason: 'Malformed' },
      });
    },
  );

  test('for any JSON, an answer comes of it', async () => {
    let body = '';
    const server = await serve((_, response) => void response.end(body));
    const source = prometheusAt(server.url);
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.json(),
          fc.json().map((inner) => `{"status":"success","data":{"result":[${inner}]}}`),
        ),
        async (text) => {
          body = text;
          expect(typeof (await source.fetch(request(), signal)).ok).toBe('boolean');
        },
      ),
      { numRuns: 200 },
    );
  });

  test('many ask at a time, few at once', async () => {
    let open = 0;
    let most = 0;
    const server = await serve((received, response) => {
      most = Math.max(most, ++open);
      setImmediate(() => {
        open--;
        both(received, response);
      });
    });
    const source = prometheusAt(server.url);
    await Promise.all(Array.from({ length: 40 }, () => source.fetch(request(), signal)));
    expect([server.received.length, most <= 4]).toEqual([80, true]);
  });
});
