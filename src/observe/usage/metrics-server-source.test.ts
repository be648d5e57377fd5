/** The provider over the embedded API server's Metrics API; odd answers are in provider-metrics-server.test.ts. */
import { describe, expect, test } from 'vitest';
import { createTestServer } from '../../cluster/apiserver/testing/test-server.ts';
import { createMetricsServerSource } from './metrics-server-source.ts';

const { signal } = new AbortController();
const stamp = '2026-01-01T00:00:00Z';
const pod = (namespace: string, name: string, cpu: string) => ({
  name,
  namespace,
  timestamp: stamp,
  window: '15s',
  containers: [{ name: 'app', usage: { cpu, memory: '100Mi' } }],
});

describe('Metrics API', () => {
  test('pods of the namespace are found by name, and served as they are measured', async () => {
    const { server, api, clock } = createTestServer();
    let cpu = '250m';
    server.serveUsage({
      nodes: () => [{ name: 'n1', timestamp: stamp, window: '15s', usage: { cpu: '1', memory: '1Gi' } }],
      pods: (namespace) =>
        [pod('shop', 'web-a', cpu), pod('other', 'web-a', '3')].filter(
          (one) => namespace === undefined || one.namespace === namespace,
        ),
    });
    const named: string[] = [];
    const podName = (namespace: string, name: string): string => {
      named.push(`${namespace}/${name}`);
      return name;
    };
    const source = createMetricsServerSource({ api, clock, intervalMillis: 30_000, podName });
    const ask = async () => {
      const answer = await source.fetch(
        {
          workload: { kind: 'Deployment', namespace: 'shop', name: 'web' },
          pods: ['web-a', 'web-gone'],
          containers: ['app'],
          from: { cpu: 0, memory: 0 },
          to: clock.now(),
        },
        signal,
      );
      return answer.ok
        ? answer.series.map((series) => [series.pod, series.cpu[0]?.value, series.memory[0]?.value])
        : answer;
    };
    expect(await ask()).toEqual([['web-a', 250, 104_857_600]]);
    expect(named).toEqual(['shop/web-a']);
    cpu = '500m';
    expect(await ask()).toEqual([['web-a', 250, 104_857_600]]);
    await clock.advance(30_000);
    expect(await ask()).toEqual([['web-a', 500, 104_857_600]]);
    expect(await source.health(signal)).toEqual({ ok: true });
  });

  test('where no Metrics API is served, that is what is said', async () => {
    const { api, clock } = createTestServer();
    const source = createMetricsServerSource({ api, clock, intervalMillis: 30_000 });
    expect(await source.health(signal)).toMatchObject({ ok: false, problem: { reason: 'Misconfigured' } });
  });
});
