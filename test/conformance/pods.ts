/** Pods of workload controllers, and acting as scheduler and kubelet for them: no suite here needs nodes that live. */
import { expect } from 'vitest';
import { at, type Cluster, itemsOf, type Namespace, textAt } from './cluster.ts';
import type { Json } from './endpoint.ts';
import { runningStatus } from './objects.ts';

export const nameOf = (item: unknown): string => textAt(item, 'metadata', 'name');

export const isLeaving = (item: Json): boolean => at(item, 'metadata', 'deletionTimestamp') !== undefined;

/** Waits for exactly `count` pods that are not being deleted, and returns them sorted by name. */
export async function podsOf({ get, eventually }: Cluster, { pods }: Namespace, count: number): Promise<Json[]> {
  return eventually(async () => {
    const staying = itemsOf(await get(pods)).filter((item) => !isLeaving(item));
    expect(staying).toHaveLength(count);
    return staying;
  });
}

/**
 * Waits until the controller of a ReplicaSet or Deployment counts so many pods as ready. It knows pods from a watch: then it knows
 * everything that was done to any pod before the last of these got ready.
 */
export async function untilReady({ get, eventually }: Cluster, path: string, count: number): Promise<void> {
  await eventually(async () => expect((await get(path)).body).toMatchObject({ status: { readyReplicas: count } }));
}

/** Binds a pod and reports its status; running and ready unless told otherwise. */
export async function run(
  { post, must, strategicPatch }: Cluster,
  { pods }: Namespace,
  name: string,
  nodeName: string,
  status: Json = runningStatus(),
): Promise<void> {
  await must(post(`${pods}/${name}/binding`, { metadata: { name }, target: { kind: 'Node', name: nodeName } }));
  await must(strategicPatch(`${pods}/${name}/status`, { status }));
}
