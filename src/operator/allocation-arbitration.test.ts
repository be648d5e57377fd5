/** Both sizing engines on one pod: rightsizing's advice for CPU is the claim, its memory it keeps; placement and resizes let each other be. */
import { expect, test } from 'vitest';
import { customResourceDefinition } from '../api/crd/crd.ts';
import { crdDescriptions } from '../api/crd/crds.ts';
import { podAllocations } from '../api/pod-allocation.ts';
import { resources } from '../api/resources.ts';
import { startAllocatedWorld } from './testing/allocated-world.ts';
import { heat, statefulSet } from './testing/replicas.ts';
import { createPolicy } from './testing/sized-world.ts';
import { wish } from './testing/wish.ts';

const inShop = { namespace: 'shop' };

async function startBothEngines() {
  const world = await startAllocatedWorld({
    startsAgents: false,
    isRightsizing: true,
    allocation: '  staleAfter: 30m',
    metricsEveryMillis: 5000,
    config: 'rightsizing: { sampleInterval: 5s, warmUp: 0s, reconcileInterval: 1s, canaryPeriod: 5s }',
  });
  for (const description of crdDescriptions) await world.cluster.apply([customResourceDefinition(description)]);
  return world;
}

test('allocation bug 17: two engines, one writer of CPU: the advice becomes the claim, memory is rightsized', async () => {
  const world = await startBothEngines();
  const requests = { cpu: '100m', memory: '512Mi' };
  const template = {
    metadata: {
      labels: { app: 'web', 'mbcas.io/managed': 'true' },
      annotations: { 'stowage.test/cpu': '300m', 'stowage.test/memory': '100Mi' },
    },
    spec: { containers: [{ name: 'app', image: 'app:1', resources: { requests } }] },
  };
  const metadata = { name: 'web', ...inShop, labels: { optimize: 'true' } };
  const spec = { replicas: 1, selector: { matchLabels: { app: 'web' } }, template };
  await world.api.create(resources.deployments, { metadata, spec });
  const pod = async () => {
    const { items } = await world.api.list(resources.pods, { ...inShop, labelSelector: 'app=web' });
    const [found] = items;
    if (found === undefined) throw new Error('no pod');
    return found;
  };
  await world.until('it runs', async () => {
    const { items } = await world.api.list(resources.pods, { ...inShop, labelSelector: 'app=web' });
    return items[0]?.status?.phase === 'Running';
  });
  const name = (await pod()).metadata?.name ?? '';
  await wish(world, name, { request: 150 });
  await createPolicy(world, { mode: 'Auto' });
  await world.until(
    'memory is rightsized',
    async () => (await pod()).spec?.containers[0]?.resources?.requests?.['memory'] !== '512Mi',
    900_000,
  );
  // 300m of use and a margin: what rightsizing would have requested.
  await world.until(
    'the advice is told',
    async () => {
      const { items } = await world.api.list(podAllocations, inShop);
      return (items[0]?.status?.guidance?.advice ?? 0) > 300;
    },
    60_000,
  );
  expect((await pod()).spec?.containers[0]?.resources?.requests?.['cpu']).toBe('150m');
});

test('of replicas that are sized each for itself, each claims what it uses', async () => {
  const world = await startBothEngines();
  const set = statefulSet(2);
  const labels = { app: 'db', 'mbcas.io/managed': 'true' };
  const template = { ...set.spec?.template, metadata: { ...set.spec?.template.metadata, labels } };
  await world.api.create(resources.statefulSets, { ...set, spec: { ...Object(set.spec), template } }, inShop);
  await world.until('both run', async () => {
    const { items } = await world.api.list(resources.pods, { ...inShop, labelSelector: 'app=db' });
    return items.filter(({ status }) => status?.phase === 'Running').length === 2;
  });
  await heat(world, 'db-0', '100Mi', '300m');
  await heat(world, 'db-1', '100Mi', '50m');
  for (const name of ['db-0', 'db-1']) await wish(world, name, { request: 150 });
  await createPolicy(world, { mode: 'Auto', updates: { sizePerReplica: true } });
  const claimOf = async (name: string): Promise<number> =>
    (await world.allocation(name))?.status?.guidance?.advice ?? 0;
  await world.until('both are told', async () => (await claimOf('db-0')) > 300 && (await claimOf('db-1')) > 0, 900_000);
  expect(await claimOf('db-1')).toBeLessThan(100);
  expect([await world.request('db-0'), await world.request('db-1')]).toEqual([150, 150]);
});
