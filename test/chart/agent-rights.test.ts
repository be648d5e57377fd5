/** The rights of the node agent: each is used by a call that was seen, and each call that was seen is granted. */
import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { stage } from '../../src/agent/testing/agent-stage.ts';
import { AGENT_NAMESPACE } from '../../src/agent/testing/agent-world.ts';
import { resources } from '../../src/api/resources.ts';
import { grantsOf, readRights, rightsOf, usedBy } from './rights.ts';

const AGENT = 'system:serviceaccount:spotalis-system:stowage-agent';

/** A node with a pod that asks for a figure of its application, an agent that starts where watches have no first lists. */
async function lifeOfAnAgent(): Promise<ReadonlySet<string>> {
  const world = await stage();
  const prometheus = createServer((_request, response) => response.end('{"status":"success","data":{"result":[]}}'));
  await new Promise<void>((resolve) => prometheus.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise((resolve) => void prometheus.close(() => resolve())));
  const address = prometheus.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  for (const resource of ['pods', 'nodes', 'namespaces', 'podallocations', 'configmaps'])
    world.server.faults.add({
      verbs: ['watch'],
      resources: [resource],
      users: [AGENT],
      effect: { kind: 'status', code: 422 },
      count: 1,
    });
  const queries = { metadata: { name: 'mbcas-demand-queries' }, data: { queue: 'queue_length' } };
  await world.server.client().create(resources.configMaps, queries, { namespace: AGENT_NAMESPACE });
  const annotations = { 'mbcas.io/demand-metric': 'queue', 'mbcas.io/demand-target': '5' };
  await world.addPod({ name: 'web', request: 500, limit: 2000, annotations });
  const { stop } = world.start({
    api: world.server.client({ user: AGENT }),
    env: { MBCAS_PROMETHEUS_URL: `http://127.0.0.1:${port}`, MBCAS_STARTUP_GRACE_PERIOD: '0s' },
  });
  await world.pass(180, { web: 900 });
  await stop();
  return usedBy(world.server.accessLog, AGENT);
}

test('everything the agent asks for is granted, and everything that is granted it asks for', async () => {
  const roles = rightsOf(readRights('deploy/profiles/allocation.yaml'), 'spotalis-system/stowage-agent');
  const granted = new Set(grantsOf(roles).map(({ right }) => right));
  const used = await lifeOfAnAgent();
  expect([...used].filter((right) => !granted.has(right))).toEqual([]);
  // A patch by server-side apply of what does not exist needs `create`, too (test/cluster/install.test.ts).
  expect([...granted].filter((right) => !used.has(right))).toEqual(['create allocation.mbcas.io/podallocations']);
});

test('the agent may write nothing but PodAllocations', () => {
  const roles = rightsOf(readRights('deploy/profiles/allocation.yaml'), 'spotalis-system/stowage-agent');
  const writes = grantsOf(roles).filter(({ right }) => !/^(?:get|list|watch) /.test(right));
  expect(writes.map(({ right }) => right)).toEqual([
    'create allocation.mbcas.io/podallocations',
    'patch allocation.mbcas.io/podallocations',
  ]);
});
