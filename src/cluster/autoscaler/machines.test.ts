import { expect, test } from 'vitest';
import { resources } from '../../api/resources.ts';
import { testPool } from '../testing/node-pool.ts';
import { startVirtualCluster } from '../testing/virtual-cluster.ts';

test('a pool has its least number of nodes in the end where launches fail for a while', async () => {
  await using at = await startVirtualCluster({ pools: [testPool('od', { minNodes: 2 })] });
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
