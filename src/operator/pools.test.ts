/** Spot pools (zone and instance family): how new pods are spread over them, on the embedded cluster. */
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Deployment, Pod } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import type { NodePool } from '../cluster/autoscaler/node-pool.ts';
import {
  createEmbeddedWorld,
  deploymentObject,
  type EmbeddedWorld,
  namespaceObject,
} from './testing/embedded-world.ts';

const GIB = 1024 ** 3;
const MINUTE = 60_000;
const inShop = { namespace: 'shop' };
const annotations = { 'spotalis.io/spot-percentage': '100', 'spotalis.io/min-on-demand': '0' };

function pool(zone: string, cpuMillis: number, changes: Partial<NodePool> = {}): NodePool {
  return {
    name: `spot-${zone}`,
    class: 'spot',
    zones: [zone],
    instanceType: 'm5.large',
    cpuMillis,
    memoryBytes: 64 * GIB,
    pricePerHour: 0.1,
    minNodes: 1,
    maxNodes: 1,
    ...changes,
  };
}

async function start(pools: readonly NodePool[], config = ''): Promise<EmbeddedWorld> {
  const world = await createEmbeddedWorld({ spotNodes: 0, onDemandNodes: 1, pools, config });
  onTestFinished(() => world.stop());
  await world.api.create(resources.namespaces, namespaceObject('shop'));
  await world.startOperator();
  return world;
}

/** Creates `web` with one replica and adds the others one by one, as an autoscaler of pods does. */
async function growTo(
  world: EmbeddedWorld,
  replicas: number,
  object = deploymentObject({ name: 'web', replicas: 1, annotations }),
) {
  await world.api.create(resources.deployments, object, inShop);
  for (let count = 1; count <= replicas; count++) {
    await world.api.patch(resources.deployments, 'web', { type: 'merge', body: { spec: { replicas: count } } }, inShop);
    await world.clock.advance(15_000);
  }
}

async function byNode(world: EmbeddedWorld): Promise<Record<string, number>> {
  const { items } = await world.api.list<Pod>(resources.pods, inShop);
  const counts: Record<string, number> = {};
  for (const { spec } of items) {
    const name = spec?.nodeName?.slice(0, 6) ?? 'none';
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

describe('placement.maxPerPool', () => {
  // The scheduler spreads over nodes, and zone a has most of them.
  const pools = [pool('a', 4_000, { minNodes: 8, maxNodes: 8 }), pool('b', 4_000), pool('c', 4_000)];

  test('without it the largest pool gets most', async () => {
    const world = await start(pools);
    await growTo(world, 9);
    expect((await byNode(world))['spot-a']).toBeGreaterThan(4);
  });

  test('with it a pool that has its share is left to others, and nothing is moved for it', async () => {
    const world = await start(pools, 'placement:\n  maxPerPool: 34');
    await growTo(world, 9);
    expect(await byNode(world)).toEqual({ 'spot-a': 3, 'spot-b': 3, 'spot-c': 3 });
    expect(world.evictions).toEqual([]);
  });

  test('where there is only one pool it is used, limit or not', async () => {
    const world = await start([pool('a', 64_000)], 'placement:\n  maxPerPool: 34');
    await growTo(world, 4);
    expect(await byNode(world)).toEqual({ 'spot-a': 4 });
  });
});

describe('placement.mutations.tolerations: false, and spot nodes with a taint', () => {
  const config =
    'controllers:\n  nodeClassifier:\n    profiles: [aks]\nplacement:\n  mutations:\n    tolerations: false';

  test('pods that tolerate it are moved there; those that do not stay, and are told why', async () => {
    const world = await start([pool('a', 64_000, { profile: 'aks' })], config);
    const allOnDemand = { 'spotalis.io/spot-percentage': '0' };
    const plain = deploymentObject({ name: 'web', replicas: 3, annotations: allOnDemand });
    const tolerant = deploymentObject({ name: 'api', replicas: 3, annotations: allOnDemand });
    const template = tolerant.spec?.template;
    const tolerations = [{ key: 'kubernetes.azure.com/scalesetpriority', operator: 'Exists' }];
    const spec = { ...template?.spec, containers: template?.spec?.containers ?? [], tolerations };
    const selector = { matchLabels: { app: 'api' } };
    await world.api.create(resources.deployments, plain, inShop);
    await world.api.create(
      resources.deployments,
      { ...tolerant, spec: { selector, replicas: 3, template: { ...template, spec } } },
      inShop,
    );
    for (const app of ['web', 'api'])
      await world.until(`${app} runs`, async () => (await world.sides('shop', app))['on-demand'] === 3);
    await world.clock.advance(MINUTE);
    for (const name of ['web', 'api'])
      await world.api.patch(
        resources.deployments,
        name,
        { type: 'merge', body: { metadata: { annotations } } },
        inShop,
      );
    await world.until('api is on spot', async () => (await world.sides('shop', 'api')).spot === 3);
    await world.clock.advance(10 * MINUTE);
    expect(world.evictions.filter((name) => name.startsWith('web'))).toEqual([]);
    expect(await world.sides('shop', 'web')).toEqual({ spot: 0, 'on-demand': 3, pending: 0 });
    const { decisions = [] } = world.operator().explain({ kind: 'Deployment', ...inShop, name: 'web' }) ?? {};
    const blocks = decisions.flatMap((decision) => decision.blocks);
    expect(blocks).toContainEqual(
      expect.objectContaining({ reason: 'NoRoomOnSide', message: expect.stringContaining('1 tainted') }),
    );
  });
});

describe('hazard H20: the pod’s own placement rules leave no node of the side', () => {
  test('it falls back, and spot stays open for others', async () => {
    const world = await start([pool('a', 64_000)], 'placement:\n  fallback:\n    after: 1m');
    const object = deploymentObject({ name: 'web', replicas: 2, annotations });
    const podAntiAffinity = {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { labelSelector: { matchLabels: { app: 'web' } }, topologyKey: 'kubernetes.io/hostname' },
      ],
    };
    const template = object.spec?.template;
    const spec = { ...template?.spec, containers: template?.spec?.containers ?? [], affinity: { podAntiAffinity } };
    const strict: Deployment = {
      ...object,
      spec: { selector: { matchLabels: { app: 'web' } }, replicas: 2, template: { ...template, spec } },
    };
    await world.api.create(resources.deployments, strict, inShop);
    await world.until(
      'one on each side',
      async () => {
        const sides = await world.sides('shop', 'web');
        return sides.spot === 1 && sides['on-demand'] === 1;
      },
      5 * MINUTE,
    );
    const other = deploymentObject({ name: 'other', replicas: 3, annotations });
    await world.api.create(resources.deployments, other, inShop);
    await world.until(
      'all of the other on spot',
      async () => (await world.sides('shop', 'other')).spot === 3,
      2 * MINUTE,
    );
    // What does not change is not tried for ever: pauses grow to an hour.
    await world.clock.advance(6 * 60 * MINUTE);
    expect(world.evictions.length).toBeLessThanOrEqual(20);
  });

  test('topology spread lets no second pod onto on-demand: one is moved there, and the next is kept and told of', async () => {
    const onDemand = pool('a', 64_000, { name: 'on-demand-a', class: 'on-demand' });
    const world = await start([...['a', 'b', 'c'].map((zone) => pool(zone, 64_000)), onDemand]);
    const zone = {
      topologyKey: 'topology.kubernetes.io/zone',
      whenUnsatisfiable: 'DoNotSchedule',
      maxSkew: 1,
      minDomains: 3,
      labelSelector: { matchLabels: { app: 'web' } },
    };
    const object = deploymentObject({ name: 'web', replicas: 6, annotations });
    const template = object.spec?.template;
    const containers = template?.spec?.containers ?? [];
    const spec = { ...template?.spec, containers, topologySpreadConstraints: [zone] };
    const strict: Deployment = {
      ...object,
      spec: { selector: { matchLabels: { app: 'web' } }, replicas: 6, template: { ...template, spec } },
    };
    await world.api.create(resources.deployments, strict, inShop);
    await world.until('all on spot', async () => (await world.sides('shop', 'web')).spot === 6, 2 * MINUTE);
    const wish = { metadata: { annotations: { 'spotalis.io/spot-percentage': '50' } } };
    await world.api.patch(resources.deployments, 'web', { type: 'merge', body: wish }, inShop);
    await world.clock.advance(60 * MINUTE);
    expect(await world.sides('shop', 'web')).toMatchObject({ spot: 5, 'on-demand': 1, pending: 0 });
    expect(world.evictions).toHaveLength(1);
    const blocks = world.operator().explain({ kind: 'Deployment', namespace: 'shop', name: 'web' })
      ?.decisions[0]?.blocks;
    expect(blocks).toMatchObject([
      { reason: 'NoRoomOnSide', message: expect.stringContaining('topology spread constraints') },
    ]);
  });
});
