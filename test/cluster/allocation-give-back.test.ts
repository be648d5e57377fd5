/** On the real control plane: what a pod gave up for another goes back when it leaves, and what waits for that room comes in its place. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Pod } from '../../src/api/core.ts';
import { customResourceDefinition, customResourceDefinitions } from '../../src/api/crd/crd.ts';
import { podAllocations } from '../../src/api/pod-allocation.ts';
import { podAllocationDescription } from '../../src/api/pod-allocation-schema.ts';
import { resources } from '../../src/api/resources.ts';
import { tryParseMillicores } from '../../src/lib/quantity.ts';
import { useOperatorWorld } from './operator-world.ts';
import { useRealCluster } from './real-cluster.ts';

const NODE = `lent-${randomBytes(3).toString('hex')}`;
const cluster = useRealCluster({
  nodes: [{ name: NODE, labels: { allocated: NODE }, cpuMillis: 2000, memoryBytes: 8 * 1024 ** 3 }],
});
const world = useOperatorWorld(cluster, {
  engines: { allocation: true },
  agentConfig: { startupGracePeriod: '0s', 'allocation.renewInterval': '5s' },
});

let namespace = '';

beforeAll(async () => {
  const { api, eventually } = cluster();
  const definition = customResourceDefinition(podAllocationDescription);
  const applied = { type: 'apply', body: definition, force: true } as const;
  await api.patch(customResourceDefinitions, definition.metadata.name, applied, { fieldManager: 'e2e' });
  await eventually(() => api.list(podAllocations));
  namespace = await cluster().namespace();
  await world().startOperator({ allocation: { warmUp: '0s' } });
});

afterAll(() => cluster().nodes.killAgent(NODE));

async function create(name: string, request: string, cpu: string): Promise<void> {
  const pod: Pod = {
    metadata: { name, labels: { 'mbcas.io/managed': 'true' }, annotations: { 'stowage.test/cpu': cpu } },
    spec: {
      nodeSelector: { allocated: NODE },
      containers: [
        { name: 'app', image: 'example.test/app:1', resources: { requests: { cpu: request, memory: '64Mi' } } },
      ],
    },
  };
  await cluster().api.create(resources.pods, pod, { namespace });
}

const podOf = (name: string): Promise<Pod> => cluster().api.get(resources.pods, name, { namespace });
async function requestOf(name: string): Promise<number> {
  const { spec } = await podOf(name);
  return tryParseMillicores(spec?.containers[0]?.resources?.requests?.['cpu']) ?? 0;
}

test('the scheduler puts the next pod where the one that paid was', async () => {
  const { api, eventually, nodes } = cluster();
  await create('busy', '400m', '1200m');
  await create('payer', '1400m', '20m');
  for (const name of ['busy', 'payer'])
    await eventually(async () => expect((await podOf(name)).status?.phase).toBe('Running'));
  const ofNode = { apiVersion: 'v1', kind: 'Node', name: NODE } as const;
  await nodes.startAgent(NODE, world().agentEnv(NODE), await world().agentKubeconfig(ofNode));
  // From a minute after its start on a pod may be given less.
  await eventually(async () => expect(await requestOf('busy')).toBeGreaterThan(1000));
  expect((await requestOf('busy')) + (await requestOf('payer'))).toBeLessThanOrEqual(1800);
  await api.delete(resources.pods, 'payer', { namespace, gracePeriodSeconds: 0 });
  await create('next', '1400m', '20m');
  await eventually(async () => expect((await podOf('next')).status?.phase).toBe('Running'));
  expect(await requestOf('busy')).toBe(400);
  expect((await podOf('busy')).status?.containerStatuses?.[0]?.restartCount).toBe(0);
});
