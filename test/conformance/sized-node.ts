/** A node with room, which the admission of resizes knows: the API server has nodes from a watch. */
import { expect } from 'vitest';
import type { Cluster } from './cluster.ts';
import type { Json } from './endpoint.ts';
import { pod } from './objects.ts';

/** @param amounts its capacity, all of it allocatable. */
export async function sizedNode(cluster: Cluster, amounts: Json): Promise<string> {
  const { post, must, mergePatch, strategicPatch, namespace, node, eventually } = cluster;
  const nodeName = await node();
  await must(mergePatch(`/api/v1/nodes/${nodeName}/status`, { status: { capacity: amounts, allocatable: amounts } }));
  const { pods } = await namespace();
  const holding = (cpu: string): Json => ({ requests: { cpu } });
  await must(post(pods, pod('probe', { nodeName, resources: holding('1m') })));
  const grown = { spec: { containers: [{ name: 'main', resources: holding('2m') }] } };
  await eventually(async () => {
    expect((await strategicPatch(`${pods}/probe/resize?dryRun=All`, grown)).status).toBe(200);
  });
  return nodeName;
}
