import { describe, expect, test } from 'vitest';
import type { StatefulSet } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import { type EmbeddedWorld, statefulSetObject } from './testing/embedded-world.ts';
import { firstBlock, inShop, MINUTE, podsOf, policy, startWorld, untilReady, untilSides } from './testing/steps.ts';

async function createSet(
  world: EmbeddedWorld,
  replicas: number,
  annotations: Record<string, string>,
  spec: object = {},
): Promise<void> {
  const set = statefulSetObject({ name: 'db', replicas, annotations });
  await world.api.create(resources.statefulSets, { ...set, spec: { ...set.spec, ...spec } } as StatefulSet, inShop);
}

const patchSet = (world: EmbeddedWorld, body: object) =>
  world.api.patch(resources.statefulSets, 'db', { type: 'merge', body }, inShop);

/** The side of each pod's node, in the order of ordinals. */
async function sidesByOrdinal(world: EmbeddedWorld): Promise<string[]> {
  const pods = await podsOf(world, 'db');
  const byName = pods.map(({ metadata, spec }) => [metadata?.name ?? '', spec?.nodeName ?? 'nowhere'] as const);
  const ordinal = (name: string): number => Number(name.split('-').at(-1));
  return byName
    .toSorted(([a], [b]) => ordinal(a) - ordinal(b))
    .map(([name, node]) => `${name} ${node.replace(/-\d+$/, '')}`);
}

describe('StatefulSets', () => {
  test('bug 5: 3 -> 0 -> 3 repeats the same split, ordinal by ordinal', async () => {
    const world = await startWorld();
    await createSet(world, 3, policy(60, 1));
    await untilReady(world, 'db', 3);
    const first = await sidesByOrdinal(world);
    expect(first.filter((place) => place.endsWith('spot'))).toHaveLength(2);
    for (const replicas of [0, 3]) {
      await patchSet(world, { spec: { replicas } });
      await untilReady(world, 'db', replicas);
    }
    expect(await sidesByOrdinal(world)).toEqual(first);
    expect(world.evictions).toEqual([]);
  });

  test('spec.ordinals.start: slots count from it', async () => {
    const world = await startWorld();
    await createSet(world, 4, policy(50, 1), { ordinals: { start: 5 } });
    await untilReady(world, 'db', 4);
    expect(await world.sides('shop', 'db')).toEqual({ spot: 2, 'on-demand': 2, pending: 0 });
    const slots = (await podsOf(world, 'db')).map(({ metadata }) => [
      metadata?.name,
      metadata?.annotations?.['spotalis.io/slot'],
    ]);
    expect(Object.fromEntries(slots)).toEqual({ 'db-5': '1', 'db-6': '2', 'db-7': '3', 'db-8': '4' });
    await patchSet(world, { metadata: { annotations: policy(0, 0) } });
    await untilSides(world, 'db', 0, 4);
    expect(world.evictions).toHaveLength(2);
  });

  test('Parallel: a burst is exact, and so is growing and shrinking', async () => {
    const world = await startWorld();
    await createSet(world, 10, policy(70, 1), { podManagementPolicy: 'Parallel' });
    await untilSides(world, 'db', 7, 3);
    for (const [replicas, spot] of [
      [20, 14],
      [5, 4],
    ] as const) {
      await patchSet(world, { spec: { replicas } });
      await untilSides(world, 'db', spot, replicas - spot);
    }
    expect(world.evictions).toEqual([]);
  });

  test('hazard H11: OrderedReady: never two disruptions at once, and none while an ordinal is not ready', async () => {
    const world = await startWorld();
    await createSet(world, 5, policy(0, 0));
    await untilReady(world, 'db', 5);
    await world.clock.advance(15_000);
    await patchSet(world, { metadata: { annotations: policy(100, 0) } });
    let fewest = 5;
    await world.until('all are on spot', async () => {
      const { spot, 'on-demand': onDemand } = await world.sides('shop', 'db');
      fewest = Math.min(fewest, spot + onDemand);
      return spot === 5;
    });
    expect(fewest).toBe(4);
    expect(world.evictions).toEqual(['db-4', 'db-3', 'db-2', 'db-1', 'db-0']);
  });

  test('hazard H10: at rest behind a partition: pods that would come back as another revision stay, the others converge', async () => {
    const world = await startWorld();
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { partition: 2 } };
    await createSet(world, 4, policy(0, 0), { updateStrategy });
    await untilReady(world, 'db', 4);
    await patchSet(world, { spec: { template: { metadata: { annotations: { version: '2' } } } } });
    await world.until('the upper two are new', async () => {
      const pods = await podsOf(world, 'db');
      return pods.filter((pod) => pod.metadata?.annotations?.['version'] === '2').length === 2;
    });
    await untilReady(world, 'db', 4);
    await world.clock.advance(15_000);
    await patchSet(world, { metadata: { annotations: policy(100, 0) } });
    await untilSides(world, 'db', 4, 0);
    const versions = (await podsOf(world, 'db')).map(
      ({ metadata }) => `${metadata?.name} ${metadata?.annotations?.['version'] ?? '1'}`,
    );
    expect(versions.toSorted()).toEqual(['db-0 1', 'db-1 1', 'db-2 2', 'db-3 2']);
    expect(world.evictions).toHaveLength(4);
  });

  test('hazard H10: OnDelete with a newer template: a move would be a rollout nobody asked for', async () => {
    const world = await startWorld();
    await createSet(world, 3, policy(0, 0), { updateStrategy: { type: 'OnDelete' } });
    await untilReady(world, 'db', 3);
    await patchSet(world, { spec: { template: { metadata: { annotations: { version: '2' } } } } });
    await world.clock.advance(15_000);
    await patchSet(world, { metadata: { annotations: policy(100, 0) } });
    await world.clock.advance(5 * MINUTE);
    expect(world.evictions).toEqual([]);
    expect(firstBlock(world, 'StatefulSet', 'db')).toBe('RolloutInProgress');
    // Its owner replaces the pods: they come back where they belong.
    for (const name of ['db-2', 'db-1', 'db-0']) {
      await world.api.delete(resources.pods, name, inShop);
      await world.clock.advance(5_000);
      await untilReady(world, 'db', 3);
    }
    expect(await world.sides('shop', 'db')).toEqual({ spot: 3, 'on-demand': 0, pending: 0 });
    expect(world.evictions).toEqual([]);
  });

  test('OnDelete at rest converges like any other', async () => {
    const world = await startWorld();
    await createSet(world, 3, policy(0, 0), { updateStrategy: { type: 'OnDelete' } });
    await untilReady(world, 'db', 3);
    await world.clock.advance(15_000);
    await patchSet(world, { metadata: { annotations: policy(100, 1) } });
    await untilSides(world, 'db', 2, 1);
    expect(world.evictions).toHaveLength(2);
  });
});
