import { createServer, type RequestListener } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { readMarks } from '../decide/allocation/marks.ts';
import { testPod } from '../decide/allocation/testing/pods.ts';
import type { Logger } from '../lib/log.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createDemandMetrics } from './demand-metrics.ts';
import { type MetricSample, queryPrometheus } from './prometheus-query.ts';

const START = 1_800_000_000_000;

const QUEUE = { queue: 'sum by (namespace, pod) (queue{pod=~"$pods",node="$node"})' };

function scene(
  answer: (text: string) => Promise<readonly MetricSample[]> | undefined,
  queries: Readonly<Record<string, string>> | (() => Promise<Readonly<Record<string, string>>>) = QUEUE,
) {
  const clock = createVirtualClock(START);
  const asked: string[] = [];
  const results: string[] = [];
  const warnings: string[] = [];
  const log: Logger = { debug() {}, info() {}, warn: (_f, m) => warnings.push(m), error() {}, child: () => log };
  const metrics = createDemandMetrics({
    queries: async () => (typeof queries === 'function' ? await queries() : queries),
    query: (text) => {
      asked.push(text);
      return answer(text);
    },
    nodeName: 'n1',
    clock,
    monotonic: clock.now,
    steady: clock.now,
    onResult: (result) => results.push(result),
    log,
  });
  return { clock, asked, results, warnings, metrics };
}

const marked = (name: string, marks: Record<string, string>) => {
  const made = testPod(name, { request: 100, marks });
  return { pod: made, marks: readMarks(made.marks) };
};
const pod = (name: string, marks: Record<string, string> = {}) =>
  marked(name, { 'mbcas.io/demand-metric': 'queue', 'mbcas.io/demand-target': '10', ...marks });
const sample = (name: string, value: number, atSeconds = START / 1000): MetricSample => ({
  namespace: 'shop',
  pod: name,
  value,
  atSeconds,
});
const { signal } = new AbortController();

describe('integration 10: application metrics', () => {
  test('one query a metric for all pods of the node, with the pods and the node put in', async () => {
    const { metrics, asked, results } = scene(async () => [sample('a', 30), sample('b.c', 5)]);
    const pods = [pod('a'), pod('b.c', { 'mbcas.io/demand-authoritative': 'true' }), marked('plain', {})];
    await metrics.refresh(pods, signal);
    expect(asked).toEqual(['sum by (namespace, pod) (queue{pod=~"a|b\\\\.c",node="n1"})']);
    expect(metrics.of(pod('a'))).toEqual({ value: 30, target: 10, at: START, isAuthoritative: false });
    expect(metrics.of(pods[1] ?? pod('x'))).toMatchObject({ value: 5, isAuthoritative: true });
    expect(metrics.of(pod('unknown'))).toBeUndefined();
    expect(results).toEqual(['ok']);
  });

  test('answers are kept for five seconds', async () => {
    const { metrics, asked, clock } = scene(async () => [sample('a', 30)]);
    await metrics.refresh([pod('a')], signal);
    await clock.advance(4999);
    await metrics.refresh([pod('a')], signal);
    expect(asked).toHaveLength(1);
    await clock.advance(1);
    await metrics.refresh([pod('a')], signal);
    expect(asked).toHaveLength(2);
  });

  test('a latency that a pod aims at is asked for as MBCAS did, but by namespace and pod', async () => {
    const { metrics, asked } = scene(async () => [sample('a', 300)]);
    const aiming = marked('a', { 'mbcas.io/target-latency-ms': '200' });
    await metrics.refresh([aiming], signal);
    expect(asked).toEqual([
      '1000 * histogram_quantile(0.99, sum by (namespace, pod, le) (rate(http_request_duration_seconds_bucket{pod=~"a"}[1m])))',
    ]);
    expect(metrics.of(aiming)).toEqual({ value: 300, target: 200, at: START, isAuthoritative: false });
  });

  test('an administrator may ask for the latency in another way', async () => {
    const queries = { 'target-latency-ms': 'latency{pod=~"$pods"}' };
    const { metrics, asked } = scene(async () => [], queries);
    await metrics.refresh([marked('a', { 'mbcas.io/target-latency-ms': '200' })], signal);
    expect(asked).toEqual(['latency{pod=~"a"}']);
  });

  test('a value over a minute old is not used', async () => {
    const { metrics } = scene(async () => [sample('a', 30, START / 1000 - 61), sample('b', 30, START / 1000 - 59)]);
    await metrics.refresh([pod('a'), pod('b')], signal);
    expect([metrics.of(pod('a')), metrics.of(pod('b'))?.value]).toEqual([undefined, 30]);
  });

  test('an answer that does not come in two seconds counts as none', async () => {
    const { clock, results } = scene(() => new Promise(() => {}));
    // The query ends with the signal, as the real one does.
    const slow = createDemandMetrics({
      queries: async () => ({ queue: 'x' }),
      query: (_text, limited) =>
        new Promise((_resolve, reject) => limited.addEventListener('abort', () => reject(limited.reason))),
      nodeName: 'n',
      clock,
      monotonic: clock.now,
      steady: clock.now,
      onResult: (result) => results.push(result),
      log: { debug() {}, info() {}, warn() {}, error() {}, child: () => expect.fail('no child') },
    });
    const done = slow.refresh([pod('a')], signal);
    await clock.advance(2000);
    await done;
    expect(results).toEqual(['failed']);
    expect(slow.of(pod('a'))).toBeUndefined();
  });

  test('after five failures it is left alone for a minute, then asked again', async () => {
    const { metrics, asked, clock, results, warnings } = scene(async () => {
      throw new Error('connection refused');
    });
    for (let round = 0; round < 12; round++) {
      await metrics.refresh([pod('a')], signal);
      await clock.advance(5000);
    }
    expect(asked).toHaveLength(5);
    expect(results.filter((result) => result === 'skipped')).toHaveLength(7);
    expect(warnings.at(-1)).toMatch(/five times in a row/);
    await clock.advance(60_000);
    await metrics.refresh([pod('a')], signal);
    expect(asked).toHaveLength(6);
  });

  test.each(['up{}', 'constructor', 'toString', '__proto__'])(
    'a name that administrators did not give is told, and no query of a tenant is ever run: %s',
    async (name) => {
      const { metrics, asked, results, warnings } = scene(async () => []);
      await metrics.refresh([pod('a', { 'mbcas.io/demand-metric': name })], signal);
      expect([asked, results]).toEqual([[], ['skipped']]);
      expect(warnings[0]).toContain(`"${name}" is not among the queries`);
    },
  );

  test('trouble is told once a metric while it lasts, and anew when it comes back', async () => {
    let answer: (text: string) => Promise<readonly MetricSample[]> = () => Promise.reject(new Error('refused'));
    const { metrics, warnings, clock } = scene((text) => answer(text));
    const refresh = async (): Promise<void> => {
      await clock.advance(5_000);
      await metrics.refresh([pod('a'), pod('b', { 'mbcas.io/demand-metric': 'other' })], signal);
    };
    const both = [expect.stringContaining('"other" is not among'), expect.stringContaining('"queue" cannot be read')];
    await refresh();
    await refresh();
    expect(warnings.splice(0).sort()).toEqual(both.toReversed());
    answer = async () => [sample('a', 30)];
    await refresh();
    expect(warnings).toEqual([]);
    answer = () => Promise.reject(new Error('refused'));
    await refresh();
    await refresh();
    expect(warnings).toEqual([both[1]]);
  });

  test('of queries that could not be read it is not said that there is no such one', async () => {
    let isForbidden = true;
    const { metrics, clock, warnings, asked } = scene(
      async () => [sample('a', 30)],
      async () => {
        if (isForbidden) throw new Error('forbidden');
        return QUEUE;
      },
    );
    await metrics.refresh([pod('a')], signal);
    expect(warnings).toEqual([expect.stringContaining('The ConfigMap mbcas-demand-queries cannot be read')]);
    isForbidden = false;
    await clock.advance(30_000);
    await metrics.refresh([pod('a')], signal);
    expect([warnings.length, asked.length]).toEqual([1, 1]);
  });

  test('without Prometheus CPU alone counts, and that is said', async () => {
    const { metrics, results, warnings } = scene(() => undefined);
    await metrics.refresh([pod('a')], signal);
    expect(results).toEqual(['skipped']);
    expect(warnings[0]).toContain('prometheusURL is not set');
  });
});

describe('the query', () => {
  const closers: (() => void)[] = [];
  afterEach(() => {
    for (const close of closers.splice(0)) close();
  });
  const serve = async (listener: RequestListener): Promise<URL> => {
    const server = createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closers.push(() => server.close());
    const address = server.address();
    return new URL(`http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/prometheus/`);
  };
  const answering = (body: unknown, status = 200) =>
    serve((_request, response) =>
      response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body)),
    );
  const vector = (result: unknown) => ({ status: 'success', data: { resultType: 'vector', result } });

  test('is posted below the path of the address, and series that are no pod’s or no number are left out', async () => {
    let seen = '';
    const base = await serve((request, response) => {
      request.on('data', (chunk: Buffer) => {
        seen = `${request.method} ${request.url} ${chunk.toString()}`;
      });
      request.on('end', () =>
        response.end(
          JSON.stringify(
            vector([
              { metric: { namespace: 'shop', pod: 'a' }, value: [1_800_000_000, '4.5'] },
              { metric: { pod: 'a' }, value: [1, '1'] },
              { metric: { namespace: 'shop', pod: 'b' }, value: [1, 'NaN'] },
              { metric: { namespace: 'shop', pod: 'c' }, value: [1, ''] },
              'nonsense',
            ]),
          ),
        ),
      );
    });
    expect(await queryPrometheus(base, 'a + b', signal)).toEqual([
      { namespace: 'shop', pod: 'a', value: 4.5, atSeconds: 1_800_000_000 },
    ]);
    expect(seen).toBe('POST /prometheus/api/v1/query query=a+%2B+b');
  });

  test.each([
    ['what is not JSON', '<html>', 200, /answered 200 with what is not JSON/],
    ['an error', { status: 'error', error: 'parse error' }, 400, /answered 400: parse error/],
    [
      'a matrix',
      { status: 'success', data: { resultType: 'matrix', result: [] } },
      200,
      /does not answer with a vector/,
    ],
    ['far too much', ' '.repeat(5 << 20), 200, /more than 4 MiB/],
  ])('%s is an error with a reason', async (_what, body, status, message) => {
    await expect(queryPrometheus(await answering(body, status), 'x', signal)).rejects.toThrow(message);
  });
});
