import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { at, both, HOUR, metric, NOW, request, signal } from '../testing/asked-prometheus.ts';
import { isCpu, matrix, prometheusAt, serve } from '../testing/http-source.ts';

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
  const agoMillis = 90_000;
  const asked = {
    workload: request().workload,
    pods: [metric.pod],
    containers: ['app'],
    agoMillis,
    windowMillis: 300_000,
  };

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
    // Its own clock says what now is.
    expect(form.get('time')).toBeNull();
    expect(form.get('query')).toMatch(
      /^max by \(pod, container\) \(rate\(container_cpu_cfs_throttled_periods_total\{namespace="shop",.*\}\[300s\] offset 90s\) \/ \(rate\(container_cpu_cfs_periods_total\{.*\}\[300s\] offset 90s\) > 0\)\)$/,
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
