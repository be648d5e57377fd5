/** metrics.k8s.io on real nodes: what the pods' use is told as, by container. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubeObject } from '../../src/api/core.ts';
import { type ResourceType, resources } from '../../src/api/resources.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { parseQuantity, toBytes, toMillicores } from '../../src/lib/quantity.ts';
import type { Program } from '../controlplane/process-group.ts';
import { useRealNodes } from './kit.ts';
import { nodeProgramDirectory } from './programs/ensure-programs.ts';
import { startMetricsServer, stopMetricsServer } from './runtime/metrics-server.ts';
import { loadTemplate } from './workloads.ts';

type PodMetrics = KubeObject & {
  readonly containers?: readonly {
    readonly name: string;
    readonly usage: { readonly cpu: string; readonly memory: string };
  }[];
};
const podMetrics: ResourceType<PodMetrics> = {
  group: 'metrics.k8s.io',
  version: 'v1beta1',
  plural: 'pods',
  kind: 'PodMetrics',
  namespaced: true,
};
const MEBIBYTE = 1024 ** 2;
const kit = useRealNodes();
let server: Program | undefined;

beforeAll(async () => {
  const { api, access } = kit();
  const { kubeconfigPath, runDirectory } = access;
  const clock = createSystemClock();
  server = await startMetricsServer({
    api,
    clock,
    kubeconfigPath,
    runDirectory,
    programDirectory: nodeProgramDirectory(),
  });
});
afterAll(async () => {
  if (server !== undefined) await stopMetricsServer(kit().api, server);
});

test('a pod that burns 100m of CPU and holds 20 MiB is told to use about that', async () => {
  const { api, namespace, eventually } = kit();
  const name = await namespace();
  const { spec = { containers: [] }, ...template } = loadTemplate('a');
  const env = Object.entries({ CPU_MILLI: '100', MEM_MIB: '20' }).map(([key, value]) => ({ name: key, value }));
  const containers = spec.containers.map((container) => ({ ...container, env }));
  const pod = { metadata: { ...template.metadata, name: 'a' }, spec: { ...spec, containers } };
  await api.create(resources.pods, pod, { namespace: name });
  await eventually(async () => {
    const { containers: told = [] } = await api.get(podMetrics, 'a', { namespace: name });
    expect(told.map((container) => container.name)).toEqual(['main']);
    const [usage] = told.map((container) => container.usage);
    const millicores = toMillicores(parseQuantity(usage?.cpu ?? '0'));
    // The machine may be too busy to give it all; the order of magnitude is what tells CPU from nothing or everything.
    expect(millicores).toBeGreaterThan(20);
    expect(millicores).toBeLessThan(200);
    const bytes = toBytes(parseQuantity(usage?.memory ?? '0'));
    expect(bytes).toBeGreaterThan(20 * MEBIBYTE);
    expect(bytes).toBeLessThan(64 * MEBIBYTE);
  }, 90_000);
});
