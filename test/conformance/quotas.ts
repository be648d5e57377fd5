/** A ResourceQuota that is in force before the test goes on. */
import { expect } from 'vitest';
import { at, type Cluster, type Namespace } from './cluster.ts';
import type { Json } from './endpoint.ts';
import { pod } from './objects.ts';

const quotasOf = ({ name }: Namespace): string => `/api/v1/namespaces/${name}/resourcequotas`;

/** What is counted so far. */
export const usedOf = async (cluster: Cluster, own: Namespace, name: string): Promise<unknown> =>
  at((await cluster.get(`${quotasOf(own)}/${name}`)).body, 'status', 'used');

/**
 * Makes a quota that is counted and known to the admission, which reads quotas from a watch: who has seen a later one has seen this one, too.
 * @param used what it has to count where there are pods already. The controller that counts may not have seen them yet, and
 * counts again only a quota that is new.
 */
export async function quotaInForce(
  cluster: Cluster,
  own: Namespace,
  name: string,
  spec: Json,
  used?: Json,
): Promise<void> {
  const { post, must, delete: remove, eventually, namespace } = cluster;
  const path = `${quotasOf(own)}/${name}`;
  await eventually(async () => {
    await remove(path);
    await must(post(quotasOf(own), { metadata: { name }, spec }));
    await eventually(async () => expect(Object.keys((await usedOf(cluster, own, name)) ?? {})).not.toEqual([]));
    if (used !== undefined) expect(await usedOf(cluster, own, name)).toEqual(used);
  });
  const later = await namespace();
  const resources = { requests: { cpu: '1m' }, limits: { cpu: '1m' } };
  const ask = () => post(`${later.pods}?dryRun=All`, pod('a', { resources }));
  // That there is none is remembered for 30 s: from here on only the watch tells of one.
  expect((await ask()).status).toBe(201);
  await must(post(quotasOf(later), { metadata: { name }, spec: { hard: { pods: '0' } } }));
  await eventually(async () => expect((await ask()).status).toBe(403));
}
