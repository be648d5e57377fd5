/** What simulated pods use on a real control plane: told by their kubelets and by a real metrics-server, acted on by a real HorizontalPodAutoscaler. */
import { rmSync } from 'node:fs';
import https from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { KubeObject } from '../../src/api/core.ts';
import { type ResourceType, resources } from '../../src/api/resources.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { parseQuantity, toBytes, toMillicores } from '../../src/lib/quantity.ts';
import { findFreePorts } from '../controlplane/ports.ts';
import type { Program } from '../controlplane/process-group.ts';
import { nodeProgramDirectory } from '../node/programs/ensure-programs.ts';
import { startMetricsServer, stopMetricsServer } from '../node/runtime/metrics-server.ts';
import { isExecutable } from '../programs.ts';
import { programFolder, useRealCluster } from './real-cluster.ts';

type Usage = { readonly cpu: string; readonly memory: string };
type PodMetrics = KubeObject & { readonly containers?: readonly { readonly name: string; readonly usage: Usage }[] };
type NodeMetrics = KubeObject & { readonly usage?: Usage };
type Autoscaler = KubeObject & {
  readonly status?: {
    readonly currentReplicas?: number;
    readonly desiredReplicas?: number;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string }[];
  };
};
const METRICS = { group: 'metrics.k8s.io', version: 'v1beta1' };
const podMetrics: ResourceType<PodMetrics> = { ...METRICS, plural: 'pods', kind: 'PodMetrics', namespaced: true };
const nodeMetrics: ResourceType<NodeMetrics> = { ...METRICS, plural: 'nodes', kind: 'NodeMetrics', namespaced: false };
const autoscalers: ResourceType<Autoscaler> = {
  group: 'autoscaling',
  version: 'v2',
  plural: 'horizontalpodautoscalers',
  kind: 'HorizontalPodAutoscaler',
  namespaced: true,
};

const MEBIBYTE = 1024 ** 2;
const isBuilt = isExecutable(join(nodeProgramDirectory(), 'metrics-server'));

const cluster = useRealCluster({ servesMetrics: true });

const deploy = async (namespace: string, replicas: number, annotations: Record<string, string>): Promise<void> => {
  const held = { requests: { cpu: '200m', memory: '64Mi' }, limits: { cpu: '400m', memory: '128Mi' } };
  await cluster().api.create(
    resources.deployments,
    {
      metadata: { name: 'web' },
      spec: {
        replicas,
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' }, annotations },
          spec: { containers: [{ name: 'main', image: 'example.test/app:1', resources: held }] },
        },
      },
    },
    { namespace },
  );
};

describe('simulated kubelets', () => {
  const scrape = (port: number, path: string): Promise<string> =>
    new Promise((resolve, reject) => {
      https
        .get({ host: '127.0.0.1', port, path, rejectUnauthorized: false, agent: false }, (response) => {
          let text = '';
          response.setEncoding('utf8');
          response.on('data', (part: string) => {
            text += part;
          });
          response.on('end', () => resolve(text));
        })
        .on('error', reject);
    });

  test('serve what their pods use at the port their node names', async () => {
    const { api, namespace, eventually } = cluster();
    const name = await namespace();
    await deploy(name, 1, { 'stowage.test/cpu': '1', 'stowage.test/memory': '40Mi' });
    await eventually(async () => {
      const [pod] = (await api.list(resources.pods, { namespace: name })).items;
      const node = await api.get(resources.nodes, pod?.spec?.nodeName ?? '');
      const text = await scrape(node.status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0, '/metrics/cadvisor');
      const own = text
        .split('\n')
        .filter((line) => line.includes(`namespace="${name}"`) && line.includes('container="main"'));
      expect(own.find((line) => line.startsWith('container_memory_working_set_bytes'))).toMatch(/ 41943040 \d{13}$/);
      const throttled = own.find((line) => line.startsWith('container_cpu_cfs_throttled_periods_total'));
      expect(Number(throttled?.split(' ')[1])).toBeGreaterThan(10);
    });
  });

  test('kill what grows beyond its limit', async () => {
    const { api, namespace, eventually } = cluster();
    const name = await namespace();
    await deploy(name, 1, { 'stowage.test/memory': 'step(40Mi, 200Mi, 2s)' });
    await eventually(async () => {
      const [pod] = (await api.list(resources.pods, { namespace: name })).items;
      const [status] = pod?.status?.containerStatuses ?? [];
      expect(status?.restartCount).toBeGreaterThan(0);
      expect(status?.lastState?.terminated).toMatchObject({ reason: 'OOMKilled', exitCode: 137 });
    });
  });
});

// Built by `npm run test:node`.
describe.skipIf(!isBuilt)('metrics-server', () => {
  let server: Program | undefined;
  let scratch = '';

  beforeAll(async () => {
    scratch = programFolder('metrics-server');
    const [port] = await findFreePorts(1);
    server = await startMetricsServer({
      api: cluster().api,
      clock: createSystemClock(),
      kubeconfigPath: inject('cluster').kubeconfigPath,
      programDirectory: nodeProgramDirectory(),
      runDirectory: scratch,
      isLocal: true,
      ...(port === undefined ? {} : { port }),
    });
  });
  afterAll(async () => {
    if (server !== undefined) await stopMetricsServer(cluster().api, server);
    rmSync(scratch, { recursive: true, force: true });
  });

  test('tells what each pod uses, within its limit, and what its node does', async () => {
    const { api, namespace, eventually } = cluster();
    const name = await namespace();
    await deploy(name, 2, { 'stowage.test/cpu': '1', 'stowage.test/memory': '40Mi' });
    await eventually(async () => {
      const { items } = await api.list(podMetrics, { namespace: name });
      expect(items).toHaveLength(2);
      for (const { containers = [] } of items) {
        expect(containers.map((container) => container.name)).toEqual(['main']);
        const usage = containers[0]?.usage;
        expect(toMillicores(parseQuantity(usage?.cpu ?? '0'))).toBeGreaterThan(380);
        expect(toMillicores(parseQuantity(usage?.cpu ?? '0'))).toBeLessThan(420);
        expect(toBytes(parseQuantity(usage?.memory ?? '0'))).toBe(40 * MEBIBYTE);
      }
    });
    // A kubelet that did not answer one look in time is left out until the next but one.
    await eventually(async () => {
      const { items } = await api.list(nodeMetrics);
      expect(items).toHaveLength(6);
      const busy = items.map(({ usage }) => toMillicores(parseQuantity(usage?.cpu ?? '0')));
      expect(busy.reduce((total, each) => total + each, 0)).toBeGreaterThan(700);
    });
  });

  test('lets a HorizontalPodAutoscaler follow the load', async () => {
    const { api, namespace, eventually } = cluster();
    const name = await namespace();
    await deploy(name, 1, { 'stowage.test/cpu': '300m' });
    const resource = { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } };
    const spec = {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      minReplicas: 1,
      maxReplicas: 3,
      metrics: [{ type: 'Resource', resource }],
    };
    await api.create<KubeObject>(autoscalers, { metadata: { name: 'web' }, spec } as KubeObject, { namespace: name });
    // 150 % of the request where 50 % are wanted: three.
    await eventually(async () => {
      const { status } = await api.get(autoscalers, 'web', { namespace: name });
      expect(status).toMatchObject({ currentReplicas: 3, desiredReplicas: 3 });
    });
  });
});
