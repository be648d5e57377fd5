/** A StatefulSet of which one replica needs far more than the others, and what each of them has. */
import type { Pod, StatefulSet } from '../../api/core.ts';
import { policyType } from '../../api/optimization-policy.ts';
import { resources } from '../../api/resources.ts';
import type { EmbeddedWorld } from './embedded-world.ts';
import { createPolicy, sizedPods, startSizedWorld } from './sized-world.ts';
import { inShop, MINUTE } from './steps.ts';

export const REPLICAS = 10;
export const HOT = 'db-7';
export const own = { sizePerReplica: true };

export function statefulSet(replicas: number): StatefulSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db', namespace: 'shop', labels: { optimize: 'true' } },
    spec: {
      replicas,
      serviceName: 'db',
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: { app: 'db' } },
      template: {
        metadata: {
          labels: { app: 'db' },
          annotations: { 'stowage.test/cpu': '100m', 'stowage.test/memory': '100Mi' },
        },
        spec: {
          containers: [
            {
              name: 'app',
              image: 'app:1',
              resources: { requests: { cpu: '500m', memory: '512Mi' }, limits: { memory: '1Gi' } },
            },
          ],
        },
      },
    },
  };
}

export async function heat(world: EmbeddedWorld, name: string, memory: string, cpu = '100m'): Promise<void> {
  const body = { metadata: { annotations: { 'stowage.test/memory': memory, 'stowage.test/cpu': cpu } } };
  await world.api.patch(resources.pods, name, { type: 'merge', body }, inShop);
}

export async function requestsByPod(world: EmbeddedWorld): Promise<ReadonlyMap<string, Record<string, string>>> {
  const pods = await sizedPods(world, 'db');
  return new Map(
    pods.map((pod: Pod) => [pod.metadata?.name ?? '', { ...pod.spec?.containers[0]?.resources?.requests }]),
  );
}

/** One of them is hot. @param rightsizing lines of the configuration. */
export async function startHotDb(rightsizing = '', replicas = REPLICAS): Promise<EmbeddedWorld> {
  const world = await startSizedWorld({ onDemandNodes: 3, spotNodes: 0, rightsizing });
  await world.api.create(resources.statefulSets, statefulSet(replicas), inShop);
  await world.until('all run', async () => (await sizedPods(world, 'db')).length === replicas, 5 * MINUTE);
  await heat(world, HOT, '420Mi');
  return world;
}

export async function startDb(updates: object = own, replicas = REPLICAS): Promise<EmbeddedWorld> {
  const world = await startHotDb('', replicas);
  await world.clock.advance(20_000);
  await createPolicy(world, { mode: 'Auto', updates: { ...updates } });
  return world;
}

export const memoryOf = async (world: EmbeddedWorld): Promise<ReadonlyMap<string, string | undefined>> =>
  new Map([...(await requestsByPod(world))].map(([name, { memory }]) => [name, memory]));

export const annotationOf = async (world: EmbeddedWorld): Promise<string | undefined> =>
  (await world.api.get(resources.statefulSets, 'db', inShop)).metadata?.annotations?.['optipod.io/replica-sizes'];
export const restarts = async (world: EmbeddedWorld): Promise<number> =>
  (await sizedPods(world, 'db')).reduce(
    (sum, { status }) => sum + (status?.containerStatuses?.[0]?.restartCount ?? 0),
    0,
  );
export const haveShrunk = async (world: EmbeddedWorld): Promise<boolean> =>
  [...(await memoryOf(world)).values()].filter((memory) => memory === '120Mi').length === REPLICAS - 1;
export const setUpdates = async (world: EmbeddedWorld, updateStrategy: object): Promise<void> => {
  const body = { spec: { updateStrategy } };
  await world.api.patch(policyType('optipod.io'), 'sizes', { type: 'merge', body }, inShop);
};

/** All but the hot one have less, and have been watched with it. */
export async function startShrunk(updates: object = own): Promise<EmbeddedWorld> {
  const world = await startDb(updates);
  await world.until('nine have shrunk', () => haveShrunk(world), 10 * MINUTE);
  await world.clock.advance(3 * MINUTE);
  return world;
}
