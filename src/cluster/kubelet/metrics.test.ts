import { describe, expect, test } from 'vitest';
import { resources } from '../../api/resources.ts';
import { http } from '../../lib/node-http.ts';
import { barePod, IN_DEFAULT, STEADY, start } from '../testing/bare-pod.ts';
import { startVirtualCluster, testNodes, type VirtualCluster } from '../testing/virtual-cluster.ts';
import { cadvisorMetrics } from './cadvisor-metrics.ts';
import { createMetricsText } from './metrics-text.ts';
import { resourceMetrics } from './resource-metrics.ts';

/** One pod that wants a core and has 400m, after ten seconds. */
async function busyNode(kubelet = STEADY.kubelet): Promise<VirtualCluster> {
  const at = await startVirtualCluster({ nodes: testNodes(1, 4000), kubelet });
  await start(at, barePod({ 'stowage.test/cpu': '1', 'stowage.test/memory': '100Mi' }));
  await at.seconds(12);
  return at;
}

const usage = ({ cluster }: VirtualCluster) => {
  const found = cluster.kubelet.usage('node-1');
  if (found === undefined) throw new Error('the node does not answer');
  return found;
};

const lines = (text: string, name: string): string[] =>
  text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));

describe('/metrics/resource', () => {
  test('says what metrics-server reads, with timestamps', async () => {
    await using at = await busyNode();
    const text = resourceMetrics(usage(at));
    const now = at.clock.now();
    expect(text.split('\n').filter((line) => !line.startsWith('#'))).toEqual([
      `container_cpu_usage_seconds_total{container="app",namespace="default",pod="a"} 4 ${now}`,
      `container_memory_working_set_bytes{container="app",namespace="default",pod="a"} 104857600 ${now}`,
      `container_start_time_seconds{container="app",namespace="default",pod="a"} ${now / 1000 - 10} ${now}`,
      `node_cpu_usage_seconds_total 4.24 ${now}`,
      `node_memory_working_set_bytes ${356 * 1024 ** 2} ${now}`,
      `pod_cpu_usage_seconds_total{namespace="default",pod="a"} 4 ${now}`,
      `pod_memory_working_set_bytes{namespace="default",pod="a"} 104857600 ${now}`,
      'resource_scrape_error 0',
      '',
    ]);
    expect(text).toContain('# TYPE container_cpu_usage_seconds_total counter\n');
  });

  test("a node's own counter goes on when its pods are gone", async () => {
    await using at = await busyNode();
    expect(usage(at).cpuSeconds).toBeCloseTo(4.24, 6);
    await at.cluster.api.delete(resources.pods, 'a', { ...IN_DEFAULT, gracePeriodSeconds: 0 });
    await at.seconds(5);
    const text = resourceMetrics(usage(at));
    expect(lines(text, 'container_cpu_usage_seconds_total')).toEqual([]);
    expect(lines(text, 'node_cpu_usage_seconds_total')[0]).toMatch(/^node_cpu_usage_seconds_total 4/);
  });
});

describe('/metrics/cadvisor', () => {
  test('has a row of the container, the sandbox, the pod and the node', async () => {
    await using at = await busyNode();
    const text = cadvisorMetrics(usage(at));
    const uid = usage(at).containers[0]?.pod.metadata?.uid ?? '';
    const rows = lines(text, 'container_cpu_usage_seconds_total');
    expect(rows).toHaveLength(4);
    const [root, pod, sandbox, container] = rows;
    expect(root).toContain('{container="",cpu="total",id="/",image="",name="",namespace="",pod=""}');
    expect(pod).toContain(
      `{container="",cpu="total",id="/kubepods/burstable/pod${uid}",image="",name="",namespace="default",pod="a"}`,
    );
    expect(sandbox).toMatch(/container="",.*image="registry.k8s.io\/pause:3.10.1"/);
    expect(container).toMatch(
      new RegExp(
        `^container_cpu_usage_seconds_total{container="app",cpu="total",id="/kubepods/burstable/pod${uid}/([0-9a-f]{64})",image="app:1",name="\\1",namespace="default",pod="a"} 4 ${at.clock.now()}$`,
      ),
    );
  });

  test.each([
    ['container_cpu_cfs_periods_total', 100],
    ['container_cpu_cfs_throttled_periods_total', 100],
    ['container_cpu_cfs_throttled_seconds_total', 6],
    ['container_pressure_cpu_waiting_seconds_total', 6],
    ['container_spec_cpu_period', 100000],
    ['container_spec_cpu_quota', 40000],
    ['container_spec_cpu_shares', 204],
    ['container_spec_memory_limit_bytes', 0],
  ])('%s of the container is %d', async (name, value) => {
    await using at = await busyNode();
    const found = lines(cadvisorMetrics(usage(at)), name);
    expect(found).toHaveLength(1);
    expect(Number(found[0]?.split(' ')[1])).toBeCloseTo(value, 6);
  });

  test('says nothing of quotas where there is no limit', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(1), ...STEADY });
    await start(at, barePod({ 'stowage.test/cpu': '1' }, { containers: [{ name: 'app', image: 'app:1' }] }));
    await at.seconds(12);
    const text = cadvisorMetrics(usage(at));
    expect(lines(text, 'container_cpu_cfs_periods_total')).toEqual([]);
    expect(lines(text, 'container_spec_cpu_quota')).toEqual([]);
    expect(text).toContain('id="/kubepods/besteffort/pod');
  });
});

test('text that would end a label is escaped', () => {
  const text = createMetricsText(undefined);
  text.add('a', 'gauge', 'Help.', [{ labels: { z: 'x"y\\z\n', b: '1' }, value: 1 }]);
  expect(text.toString()).toBe('# HELP a Help.\n# TYPE a gauge\na{b="1",z="x\\"y\\\\z\\n"} 1\n');
});

describe('endpoints', () => {
  const get = (port: number, path: string, token?: string): Promise<{ status: number; text: string }> =>
    new Promise((resolve, reject) => {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      http
        .get({ host: '127.0.0.1', port, path, headers, agent: false }, (response) => {
          let text = '';
          response.setEncoding('utf8');
          response.on('data', (part: string) => {
            text += part;
          });
          response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
        })
        .on('error', reject);
    });
  const portOf = ({ cluster }: VirtualCluster): number => {
    const [node] = cluster.caches.of(resources.nodes).all();
    expect(node?.status?.addresses).toContainEqual({ type: 'InternalIP', address: '127.0.0.1' });
    return node?.status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0;
  };

  test('answer at the port the node names, to those with a token', async () => {
    await using at = await busyNode({
      ...STEADY.kubelet,
      ...{ endpoints: { authorize: (token: string | undefined) => token === 'secret' } },
    });
    const port = portOf(at);
    expect(await get(port, '/healthz')).toEqual({ status: 200, text: 'ok' });
    expect(await get(port, '/metrics/resource')).toMatchObject({ status: 401 });
    expect(await get(port, '/metrics/resource?x=1', 'secret')).toEqual({
      status: 200,
      text: resourceMetrics(usage(at)),
    });
    expect(await get(port, '/metrics/cadvisor', 'secret')).toEqual({ status: 200, text: cadvisorMetrics(usage(at)) });
    expect(await get(port, '/pods', 'secret')).toMatchObject({ status: 404 });
  });

  test('break the connection while the node is lost, and end with the cluster', async () => {
    let port = 0;
    {
      await using at = await busyNode({ ...STEADY.kubelet, ...{ endpoints: {} } });
      port = portOf(at);
      at.cluster.kubelet.loseNode('node-1');
      await expect(get(port, '/metrics/resource')).rejects.toThrow();
      await at.cluster.kubelet.recoverNode('node-1');
      expect(await get(port, '/metrics/resource')).toMatchObject({ status: 200 });
    }
    await expect(get(port, '/metrics/resource')).rejects.toThrow();
  });
});
