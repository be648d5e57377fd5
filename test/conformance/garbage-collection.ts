/** What the garbage collector knows, which hears of each type by a watch of its own. */
import { expect } from 'vitest';
import type { Cluster } from './cluster.ts';
import type { Json } from './endpoint.ts';

/** Of nobody. */
const gone = { apiVersion: 'v1', kind: 'ConfigMap', name: 'none', uid: '00000000-0000-4000-8000-000000000000' };

/**
 * Waits until the collector knows all objects of a type that have been made so far: once it has taken away the next one.
 * A dependent that it does not know yet it neither waits for nor orphans.
 * @param path of the objects.
 * @param spec of one more of them.
 */
export async function untilCollectorKnows(
  { post, get, must, eventually }: Cluster,
  path: string,
  { spec }: Json,
): Promise<void> {
  await must(post(path, { metadata: { name: 'orphan', ownerReferences: [gone] }, spec }));
  await eventually(async () => expect((await get(`${path}/orphan`)).status).toBe(404));
}
