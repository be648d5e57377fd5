import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createVirtualClock } from '../../../lib/virtual-clock.ts';
import { isCpu, matrix, prometheusAt, type Respond, serve } from '../testing/http-source.ts';
import type { UsageRequest } from '../usage-source.ts';

const { signal } = new AbortController();
const NOW = 1_700_000_040_000;
const HOUR = 3_600_000;
const at = NOW - 60_000;
const metric = { pod: 'web-7d4f9c5b8-x2k7p', container: 'app' };

function request(changes: Partial<UsageRequest> = {}): UsageRequest {
  return {
    workload: { kind: 'Deployment', namespace: 'shop', name: 'web' },
    pods: ['web-7d4f9c5b8-x2k7p'],
    containers: ['app'],
    from: { cpu: NOW - HOUR, memory: NOW - HOUR },
    to: NOW,
    ...changes,
  };
}

const both: Respond = (received, response) => {
  response.end(matrix([{ metric, values: [[at / 1000, isCpu(received) ? '0.2509' : '104857600.7']] }]));
};

describe('Prometheus source', () => {
  // Feature: k8s-workload-rightsizing, Property 11: for any monitored workload, CPU and memory of each container are obtained.
  test('Property 11: for any pods and containers, two requests bring CPU and memory of each, cut to whole numbers', async () => {
    const use = fc.record({
      milliCores: fc.integer({ min: 1, max: 64_000 }),
      bytes: fc.integer({ min: 1, max: 2 ** 40 }),
    });
    const name = fc.stringMatching(/^[a-z][a-z0-9]{0,9}$/);
    const pods = fc.dictionary(name, fc.dictionary(name, use, { minKeys: 1, maxKeys: 4 }), { maxKeys: 5 });
    let used: Readonly<Record<string, Readonly<Record<string, { milliCores: number; bytes: number }>>>> = {};
    const server = await serve((received, response) => {
      const series = Object.entries(used).flatMap(([pod, containers]) =>
        Object.entries(containers).map(([container, { milliCores, bytes }]) => ({
          metric: { ...metric, pod, container },
          // Prometheus tells fractions: nine ten-thousandths of a core, seven tenths of a byte.
          values: [[at / 1000, isCpu(received) ? `${(milliCores + 0.9) / 1000}` : `${bytes + 0.7}`] as const],
        })),
      );
      response.end(matrix(series));
    });
    const source = prometheusAt(server.url);
    await fc.assert(
      fc.asyncProperty(pods, async (any) => {
        used = any;
        server.received.length = 0;
        const answer = await source.fetch(request({ pods: Object.keys(any) }), signal);
        expect(server.received).toHaveLength(2);
        const found = answer.ok ? answer.series : undefined;
        const expected = Object.entries(any).flatMap(([pod, containers]) =>
          Object.entries(containers).map(([container, { milliCores, bytes }]) =>
            expect.objectContaining({
              pod,
              container,
              cpu: [{ at, value: milliCores }],
              memory: [{ at, value: bytes }],
            }),
          ),
        );
        expect(found).toHaveLength(expected.length);
        expect(found).toEqual(expect.arrayContaining(expected));
      }),
      { numRuns: 150 },
    );
  });

  test('tells up to when each resource was read', async () => {
    const server = await serve(both);
    expect(await prometheusAt(server.url).fetch(request(), signal)).toEqual({
      ok: true,
      series: [{ pod: metric.pod, container: 'app', cpu: [{ at, value: 250 }], memory: [{ at, value: 104_857_600 }] }],
      readTo: { cpu: at, memory: at },
      warnings: [],
    });
  });

  test('rightsizing bug 30: questions go as a form in the body, however many pods there are', async () => {
    const server = await serve(both);
    const pods = Array.from({ length: 500 }, (_, index) => `odd.${index}`);
    await prometheusAt(new URL('/prometheus/?tenant=7', server.url)).fetch(request({ pods }), signal);
    for (const { method, path, headers, form } of server.received) {
      expect([method, path]).toEqual(['POST', '/prometheus/api/v1/query_range?tenant=7']);
      expect(headers['content-type']).toBe('application/x-www-form-urlencoded');
      expect(Buffer.byteLength(form.get('query') ?? '')).toBeLessThan(8192);
    }
  });

  // Feature: k8s-workload-rightsizing, Property 12: for any metrics collection, data is aggregated over the rolling window.
  test('Property 12, optipod defect B8: for any window, the ranges asked for cover it, and the rate is never the window', async () => {
    const server = await serve((_, response) => void response.end(matrix([])));
    const source = prometheusAt(server.url);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 120_000, max: 60 * 24 * HOUR }), async (window) => {
        server.received.length = 0;
        await source.fetch(request({ from: { cpu: NOW - window, memory: NOW - window } }), signal);
        for (const query of ['container_cpu', 'container_memory']) {
          const forms = server.received.map(({ form }) => form).filter((form) => form.get('query')?.includes(query));
          const step = 1000 * Number(forms[0]?.get('step'));
          const starts = forms.map((form) => 1000 * Number(form.get('start')));
          const ends = forms.map((form) => 1000 * Number(form.get('end')));
          expect(Math.min(...starts) - (NOW - window)).toBeLessThanOrEqual(step);
          expect(NOW - 30_000 - Math.max(...ends)).toBeLessThan(step);
          const rate = Number(/\[(\d+)s\]/.exec(forms[0]?.get('query') ?? '')?.[1]);
          expect(rate).toBe(query === 'container_cpu' ? Math.max(120, step / 1000) : step / 1000);
        }
      }),
      { numRuns: 100 },
    );
  });

  test('rightsizing bug 4, 32: one resource may fail alone; the other is taken, and the mark of the failed one stays', async () => {
    const server = await serve((received, response) => {
      if (isCpu(received))
        response
          .writeHead(422)
          .end(JSON.stringify({ status: 'error', errorType: 'execution', error: 'too many samples' }));
      else both(received, response);
    });
    const answer = await prometheusAt(server.url).fetch(request(), signal);
    expect(answer).toMatchObject({
      ok: true,
      series: [{ cpu: [], memory: [{ value: 104_857_600 }] }],
      readTo: { memory: at },
    });
    expect(answer.ok && answer.readTo.cpu).toBeUndefined();
    expect(answer.ok && answer.warnings[0]).toContain('too many samples');
  });

  test('where nothing is known, nothing was read', async () => {
    const server = await serve((_, response) => void response.end(matrix([])));
    expect(await prometheusAt(server.url).fetch(request(), signal)).toEqual({
      ok: true,
      series: [],
      readTo: {},
      warnings: [],
    });
  });

  test('amounts beyond any machine are left out, with a word', async () => {
    const server = await serve(
      (_, response) =>
        void response.end(
          matrix([
            {
              metric,
              values: [
                [1, '1e30'],
                [2, '1'],
              ],
            },
          ]),
        ),
    );
    const answer = await prometheusAt(server.url).fetch(request(), signal);
    expect(answer).toMatchObject({
      ok: true,
      series: [{ cpu: [{ at: 2000, value: 1000 }], memory: [{ at: 2000, value: 1 }] }],
    });
    expect(answer.ok && answer.warnings).toHaveLength(2);
  });

  test('templates replace the built-in questions', async () => {
    const server = await serve(both);
    const templates = { cpu: 'my_cpu{ns="$namespace"}', memory: 'my_memory{pod=~"$pods"}' };
    await prometheusAt(server.url, { templates }).fetch(request(), signal);
    expect(server.received.map(({ form }) => form.get('query'))).toEqual([
      'my_cpu{ns="shop"}',
      expect.stringMatching(/^my_memory\{pod=~"web-/),
    ]);
  });

  test('a question that is too long is not asked', async () => {
    const server = await serve(both);
    const labels = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`label_${index}`, 'x'.repeat(256)]));
    const answer = await prometheusAt(server.url, { labels }).fetch(request(), signal);
    expect(answer).toMatchObject({ ok: false, problem: { reason: 'Misconfigured' } });
    expect(server.received).toEqual([]);
  });
});

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

describe('health', () => {
  test.each([
    ['a Prometheus', '{"status":"success","data":{"resultType":"vector","result":[]}}', { ok: true }],
    ['something else', '{"hello":1}', { ok: false, problem: { reason: 'Malformed' } }],
    ['a page', '<html>', { ok: false, problem: { reason: 'Malformed' } }],
  ])('%s', async (_name, body, expected) => {
    const server = await serve((_, response) => void response.end(body));
    expect(await prometheusAt(server.url).health(signal)).toMatchObject(expected);
    expect(server.received[0]?.path).toBe('/api/v1/query');
  });
});

describe('throttling', () => {
  const asked = { workload: request().workload, pods: [metric.pod], containers: ['app'], at, windowMillis: 300_000 };

  test('one instant question brings the share of periods of each container, of the pod where it is highest', async () => {
    const server = await serve((_, response) => {
      const value = (pod: string, container: string, share: string) => ({
        metric: { pod, container },
        value: [at / 1000, share],
      });
      const result = [value('web-1', 'app', '0.1'), value('web-2', 'app', '0.6'), value('web-2', 'log', 'NaN')];
      response.end(JSON.stringify({ status: 'success', data: { resultType: 'vector', result } }));
    });
    const answer = await prometheusAt(server.url).throttling?.(asked, signal);
    expect(answer).toEqual({ ok: true, shares: new Map([['app', 0.6]]) });
    expect(server.received).toHaveLength(1);
    const [{ path, form } = { path: '', form: new URLSearchParams() }] = server.received;
    expect(path).toContain('/api/v1/query');
    expect(form.get('time')).toBe(String(at / 1000));
    expect(form.get('query')).toMatch(
      /^max by \(pod, container\) \(rate\(container_cpu_cfs_throttled_periods_total\{namespace="shop",.*\}\[300s\]\) \/ \(rate\(container_cpu_cfs_periods_total\{.*\}\[300s\]\) > 0\)\)$/,
    );
  });

  test('what is refused or broken is a failure, not a share of nothing', async () => {
    const refused = await serve((_, response) => {
      response.statusCode = 422;
      response.end(JSON.stringify({ status: 'error', errorType: 'execution', error: 'no' }));
    });
    expect(await prometheusAt(refused.url).throttling?.(asked, signal)).toMatchObject({ ok: false });
    const broken = await serve((_, response) => response.end('[]'));
    expect(await prometheusAt(broken.url).throttling?.(asked, signal)).toMatchObject({
      ok: false,
      problem: { reason: 'Malformed' },
    });
  });
});
