/** metrics.k8s.io on real nodes: what the pods' use is told as, by container. */
import { expect, test } from 'vitest';
import type { KubeObject } from '../../src/api/core.ts';
import { type ResourceType, resources } from '../../src/api/resources.ts';
import { parseQuantity, toBytes, toMillicores } from '../../src/lib/quantity.ts';
import { useRealNodes } from './kit.ts';
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
  });
});
