/** The operator is not alone: it restarts, others evict and drain, nodes are on their way out. */
import { describe, expect, test } from 'vitest';
import { resources } from '../api/resources.ts';
import { deploymentObject, type EmbeddedWorld } from './testing/embedded-world.ts';
import {
  annotate,
  deploy,
  firstBlock,
  inShop,
  MINUTE,
  patchDeployment,
  podsOf,
  policy,
  startWorld,
  untilReady,
  untilSides,
} from './testing/steps.ts';

const evict = (world: EmbeddedWorld, name: string) =>
  world.api.createSubresource(
    resources.pods,
    name,
    'eviction',
    { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: 'shop' } },
    inShop,
  );

const taint = (world: EmbeddedWorld, node: string, key: string) =>
  world.api.patch(resources.nodes, node, {
    type: 'merge',
    body: { spec: { taints: [{ key, effect: 'NoSchedule' }] } },
  });

describe('hazard H14: a restart', () => {
  test('in mid-burst: the new process counts what is stamped, and moves no more than what came up without it', async () => {
    const world = await startWorld();
    const deployment = deploymentObject({ name: 'web', replicas: 40, annotations: policy(70, 4) });
    await world.api.create(resources.deployments, deployment, inShop);
    await world.clock.advance(250);
    world.cutOff('test_1');
    const starting = world.startOperator('test_2');
    await untilReady(world, 'web', 40);
    await starting;
    const unstamped = (await podsOf(world, 'web')).filter(
      ({ metadata }) => metadata?.annotations?.['spotalis.io/slot'] === undefined,
    );
    await untilSides(world, 'web', 28, 12);
    await world.clock.advance(5 * MINUTE);
    expect(world.evictions.length).toBeLessThanOrEqual(unstamped.length);
    expect(await world.sides('shop', 'web')).toEqual({ spot: 28, 'on-demand': 12, pending: 0 });
  });

  test('at rest, and a scale-up right after it: exact without one eviction', async () => {
    const world = await startWorld();
    await deploy(world, 10);
    const stopping = world.operator().stop();
    await world.clock.advance(2_000);
    await stopping;
    await world.startOperator('test_2');
    await world.operator().synced;
    await patchDeployment(world, { replicas: 30 });
    await untilSides(world, 'web', 21, 9);
    await world.clock.advance(2 * MINUTE);
    expect(world.evictions).toEqual([]);
  });
});

describe('hazard H33: other evictors', () => {
  test('bug 3: a descheduler that evicts a pod every 20 s: replacements keep the mix, and nothing is evicted on top', async () => {
    const world = await startWorld();
    await deploy(world, 10);
    for (let round = 0; round < 12; round++) {
      const [victim] = (await podsOf(world, 'web')).filter((pod) => pod.metadata?.deletionTimestamp === undefined);
      await evict(world, victim?.metadata?.name ?? '');
      await world.clock.advance(20_000);
    }
    await untilSides(world, 'web', 7, 3);
    expect(world.evictions).toEqual([]);
  });

  test('while a pod that another evicted is still ending, no second one is', async () => {
    const world = await startWorld();
    await deploy(world, 4, policy(0, 0));
    await world.clock.advance(15_000);
    const pods = await podsOf(world, 'web');
    const slow = { metadata: { finalizers: ['example.com/keep'] } };
    const victim = pods[0]?.metadata?.name ?? '';
    await world.api.patch(resources.pods, victim, { type: 'merge', body: slow }, inShop);
    await evict(world, victim);
    await world.clock.advance(1_000);
    await annotate(world, policy(100, 0));
    await world.clock.advance(2 * MINUTE);
    expect(world.evictions).toEqual([]);
    expect(firstBlock(world, 'Deployment', 'web')).toBe('PodTerminating');
    await world.api.patch(resources.pods, victim, { type: 'merge', body: { metadata: { finalizers: null } } }, inShop);
    // Its replacement came before the annotation.
    await untilSides(world, 'web', 4, 0);
    expect(world.evictions).toHaveLength(4);
  });

  test.each(['karpenter.sh/disrupted', 'ToBeDeletedByClusterAutoscaler', 'aws-node-termination-handler/spot-itn'])(
    'a node with the taint %s is left to those who end it',
    async (key) => {
      const world = await startWorld({ onDemandNodes: 1 });
      await deploy(world, 3, policy(0, 0));
      await world.clock.advance(15_000);
      await taint(world, 'on-demand-0', key);
      await annotate(world, policy(100, 0));
      await world.clock.advance(2 * MINUTE);
      expect(world.evictions).toEqual([]);
      expect(firstBlock(world, 'Deployment', 'web')).toBe('NodeLeaving');
    },
  );

  test.each([
    'karpenter.sh/do-not-disrupt',
    'cluster-autoscaler.kubernetes.io/safe-to-evict',
    'descheduler.alpha.kubernetes.io/prefer-no-eviction',
  ])('pods with %s stay, and it is told', async (key) => {
    const world = await startWorld();
    await deploy(world, 3, policy(0, 0));
    const value = key.endsWith('safe-to-evict') ? 'false' : 'true';
    const body = { metadata: { annotations: { [key]: value } } };
    for (const pod of await podsOf(world, 'web'))
      await world.api.patch(resources.pods, pod.metadata?.name ?? '', { type: 'merge', body }, inShop);
    await annotate(world, policy(100, 0));
    await world.clock.advance(2 * MINUTE);
    expect(world.evictions).toEqual([]);
    expect(firstBlock(world, 'Deployment', 'web')).toBe('Protected');
  });
});

test('hazard H26: a node whose label comes late is of no side until then; nothing is moved meanwhile', async () => {
  const world = await startWorld({ spotNodes: 1, onDemandNodes: 1 });
  const label = (node: string, value: string | null) =>
    world.api.patch(resources.nodes, node, {
      type: 'merge',
      body: { metadata: { labels: { 'karpenter.sh/capacity-type': value } } },
    });
  await deploy(world, 4, policy(50, 2));
  await label('on-demand-0', null);
  await world.clock.advance(5 * MINUTE);
  expect(world.evictions).toEqual([]);
  const explanation = world.operator().explain({ kind: 'Deployment', ...inShop, name: 'web' });
  expect(explanation?.plan.actual).toEqual({ spot: 2, onDemand: 0, unknown: 2 });
  await label('on-demand-0', 'on-demand');
  await world.clock.advance(MINUTE);
  expect(await world.sides('shop', 'web')).toEqual({ spot: 2, 'on-demand': 2, pending: 0 });
  expect(world.evictions).toEqual([]);
});
