import { expect, test } from 'vitest';
import { resources } from '../../api/resources.ts';
import { startVirtualCluster } from '../testing/virtual-cluster.ts';
import type { NodePool } from './node-pool.ts';

const pool: NodePool = {
  name: 'od',
  class: 'on-demand',
  zones: ['eu-1a'],
  instanceType: 'm5.xlarge',
  cpuMillis: 4000,
  memoryBytes: 16 * 1024 ** 3,
  pricePerHour: 0.2,
  minNodes: 2,
};

test('a pool has its least number of nodes in the end where launches fail for a while', async () => {
  await using at = await startVirtualCluster({ pools: [pool] });
  const { autoscaler, caches, server } = at.cluster;
  const nodes = caches.of(resources.nodes);
  await at.seconds(10);
  const outage = server.faults.add({ verbs: ['create'], resources: ['nodes'], effect: { kind: 'outage' } });
  for (const name of autoscaler.nodesOf('od')) autoscaler.loseNode(name);
  await at.seconds(300);
  expect(nodes.size).toBe(0);
  outage.remove();
  await at.seconds(120);
  expect(nodes.size).toBe(2);
});
