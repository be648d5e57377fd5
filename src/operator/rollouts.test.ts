import { describe, expect, test } from 'vitest';
import { resources } from '../api/resources.ts';
import { deploymentObject, type EmbeddedWorld } from './testing/embedded-world.ts';
import {
  annotate,
  deploy,
  eventReasons,
  firstBlock,
  inShop,
  MINUTE,
  patchDeployment,
  podsOf,
  policy,
  startWorld,
  untilReady,
  untilSides,
  untilVersion,
  versionTemplate,
} from './testing/steps.ts';

interface Extremes {
  readonly onDemand: number;
  readonly ready: number;
  readonly most: number;
}

/** Rolls out version 2 and reports the fewest ready pods, in total and on on-demand, and the most at one time. */
async function rollOut(world: EmbeddedWorld, replicas: number): Promise<Extremes> {
  let extremes: Extremes = { onDemand: replicas, ready: replicas, most: 0 };
  await patchDeployment(world, { template: versionTemplate('2') });
  await world.until('the rollout is over', async () => {
    const { spot, 'on-demand': onDemand, pending } = await world.sides('shop', 'web');
    extremes = {
      onDemand: Math.min(extremes.onDemand, onDemand),
      ready: Math.min(extremes.ready, spot + onDemand),
      most: Math.max(extremes.most, spot + onDemand + pending),
    };
    const pods = await podsOf(world, 'web');
    return pods.length === replicas && pods.every((pod) => pod.metadata?.annotations?.['version'] === '2');
  });
  await untilReady(world, 'web', replicas);
  return extremes;
}

describe('rolling updates', () => {
  test.each([
    { replicas: 40, maxSurge: '25%', maxUnavailable: '25%', percent: 70, floor: 4, spot: 28 },
    { replicas: 40, maxSurge: '25%', maxUnavailable: 0, percent: 70, floor: 4, spot: 28 },
    { replicas: 10, maxSurge: '100%', maxUnavailable: 0, percent: 50, floor: 1, spot: 5 },
    { replicas: 10, maxSurge: 0, maxUnavailable: 1, percent: 80, floor: 2, spot: 8 },
  ])(
    'hazard H9: $replicas replicas, surge $maxSurge, unavailable $maxUnavailable: exact without one eviction, the floor kept within maxUnavailable',
    async ({ replicas, maxSurge, maxUnavailable, percent, floor, spot }) => {
      const world = await startWorld();
      await deploy(world, replicas, policy(percent, floor));
      await patchDeployment(world, { strategy: { rollingUpdate: { maxSurge, maxUnavailable } } });
      const { onDemand, ready, most } = await rollOut(world, replicas);
      expect(await world.sides('shop', 'web')).toEqual({ spot, 'on-demand': replicas - spot, pending: 0 });
      const unavailable = typeof maxUnavailable === 'string' ? Math.floor(replicas / 4) : maxUnavailable;
      expect(onDemand).toBeGreaterThanOrEqual(floor - unavailable);
      expect(ready).toBeGreaterThanOrEqual(replicas - unavailable);
      if (maxSurge !== 0) expect(most).toBeGreaterThan(replicas);
      await world.clock.advance(5 * MINUTE);
      expect(world.evictions).toEqual([]);
    },
  );

  test('bug 26: 2 on-demand of 10 survive an update with surge 25 %, and the next one', async () => {
    const world = await startWorld();
    await deploy(world, 10, policy(80, 2));
    await rollOut(world, 10);
    expect(await world.sides('shop', 'web')).toEqual({ spot: 8, 'on-demand': 2, pending: 0 });
    await patchDeployment(world, { template: versionTemplate('3') });
    await untilVersion(world, 'web', '3', 10);
    await untilSides(world, 'web', 8, 2);
    expect(world.evictions).toEqual([]);
  });

  test('an annotation that changes in mid-rollout waits for its end, then converges', async () => {
    const world = await startWorld();
    await deploy(world, 6, policy(0, 0));
    await patchDeployment(world, { template: versionTemplate('2', { 'stowage.test/ready-after': '20s' }) });
    await world.clock.advance(2_000);
    await annotate(world, policy(50, 0));
    await world.clock.advance(10_000);
    expect(firstBlock(world, 'Deployment', 'web')).toBe('RolloutInProgress');
    expect(world.evictions).toEqual([]);
    await untilSides(world, 'web', 3, 3);
  });
});

describe('rollouts that do not go on', () => {
  test('hazard H10: a paused Deployment is counted and not repaired; new pods are steered; once resumed it converges', async () => {
    const world = await startWorld();
    await deploy(world, 4, policy(0, 0));
    await patchDeployment(world, { paused: true });
    await annotate(world, policy(50, 0));
    await world.clock.advance(5 * MINUTE);
    expect(firstBlock(world, 'Deployment', 'web')).toBe('Paused');
    expect(world.evictions).toEqual([]);
    await patchDeployment(world, { replicas: 8 });
    await untilSides(world, 'web', 4, 4);
    await annotate(world, policy(75, 0));
    await world.clock.advance(MINUTE);
    expect(world.evictions).toEqual([]);
    await patchDeployment(world, { paused: false });
    await untilSides(world, 'web', 6, 2);
    expect(world.evictions).toHaveLength(2);
  });

  test('a stuck rollout blocks repair for stuckRolloutAfter, not for ever', async () => {
    const world = await startWorld({ config: 'placement:\n  stuckRolloutAfter: 5m' });
    await deploy(world, 8, policy(50, 0));
    await patchDeployment(world, {
      progressDeadlineSeconds: 60,
      strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      template: versionTemplate('2', { 'stowage.test/ready-after': 'never' }),
    });
    await world.clock.advance(30_000);
    await annotate(world, policy(25, 0));
    await world.clock.advance(4 * MINUTE);
    expect(firstBlock(world, 'Deployment', 'web')).toBe('RolloutInProgress');
    expect(world.evictions).toEqual([]);
    expect(await eventReasons(world)).toContain('RolloutInProgress');
    await world.until('repair goes on', () => world.evictions.length > 0, 10 * MINUTE);
  });
});

describe('scaling', () => {
  test('hazard H2: scaled in mid-burst, twice: exact without one eviction', async () => {
    const world = await startWorld();
    const deployment = deploymentObject({ name: 'web', replicas: 10, annotations: policy(70, 1) });
    await world.api.create(resources.deployments, deployment, inShop);
    await world.clock.advance(250);
    await patchDeployment(world, { replicas: 60 });
    await world.clock.advance(250);
    await patchDeployment(world, { replicas: 25 });
    await untilSides(world, 'web', 18, 7);
    await world.clock.advance(2 * MINUTE);
    expect(await world.sides('shop', 'web')).toEqual({ spot: 18, 'on-demand': 7, pending: 0 });
    expect(world.evictions).toEqual([]);
  });

  test('to zero and back: the same mix, without one eviction', async () => {
    const world = await startWorld();
    await deploy(world, 10, policy(70, 2));
    for (let round = 0; round < 2; round++) {
      await patchDeployment(world, { replicas: 0 });
      await untilReady(world, 'web', 0);
      await patchDeployment(world, { replicas: 10 });
      await untilSides(world, 'web', 7, 3);
    }
    await world.clock.advance(2 * MINUTE);
    expect(world.evictions).toEqual([]);
  });

  test('hazard H4: bug 2: below the floor everything is on-demand, and nothing is evicted', async () => {
    const world = await startWorld();
    await deploy(world, 12, policy(75, 3));
    expect(await world.sides('shop', 'web')).toEqual({ spot: 9, 'on-demand': 3, pending: 0 });
    for (const [replicas, spot] of [
      [4, 1],
      [3, 0],
      [2, 0],
      [1, 0],
      [5, 2],
    ] as const) {
      await patchDeployment(world, { replicas });
      await untilSides(world, 'web', spot, replicas - spot);
    }
    await world.clock.advance(2 * MINUTE);
    expect(world.evictions).toEqual([]);
  });

  test('hazard H3: bug 27: bug 37: 12 -> 6 -> 3 keeps the mix by the order of removal alone', async () => {
    const world = await startWorld();
    await deploy(world, 12, policy(50, 1));
    for (const [replicas, spot] of [
      [6, 3],
      [3, 2],
    ] as const) {
      await patchDeployment(world, { replicas });
      await untilReady(world, 'web', replicas);
      expect(await world.sides('shop', 'web')).toEqual({ spot, 'on-demand': replicas - spot, pending: 0 });
    }
    expect(world.evictions).toEqual([]);
  });

  test('bug 7: 10 -> 100 in one patch is exact', async () => {
    const world = await startWorld();
    await deploy(world, 10, policy(70, 3));
    await patchDeployment(world, { replicas: 100 });
    await untilSides(world, 'web', 70, 30);
    expect(world.evictions).toEqual([]);
  });
});
