/** Spot goes and comes back: fallback and return, on the embedded cluster with an autoscaler, in virtual time. */
import { describe, expect, test } from 'vitest';
import type { Pod } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import { configOf } from '../config/testing/load-text.ts';
import type { EmbeddedWorld } from './testing/embedded-world.ts';
import {
  create,
  deeds,
  deployment,
  explained,
  HOUR,
  inShop,
  loseSpotNodes,
  MINUTE,
  reasons,
  scale,
  setSpot,
  start,
  until,
  untilSides,
} from './testing/fallback-world.ts';
import { patchDeployment, podsOf, versionTemplate } from './testing/steps.ts';

async function covers(world: EmbeddedWorld): Promise<number> {
  const { items } = await world.api.list<Pod>(resources.pods, inShop);
  return items.filter(({ metadata }) => metadata?.annotations?.['spotalis.io/fallback'] === 'true').length;
}

describe('bug 8: spot is away for 20 minutes', () => {
  test('hazard H5: pods that wait five minutes are recreated on on-demand; hazard H6: they return one an hour, never more moves than fallbacks', async () => {
    const world = await start();
    setSpot(world, false);
    await create(world, deployment({ replicas: 5, percentage: 60 }));
    await world.clock.advance(4.5 * MINUTE);
    expect(await world.sides('shop', 'web')).toEqual({ spot: 0, 'on-demand': 2, pending: 3 });
    expect(world.evictions).toEqual([]);
    await untilSides(world, 0, 5, 5 * MINUTE);
    expect(world.evictions).toHaveLength(3);
    expect(await covers(world)).toBe(3);
    await world.clock.advance(10 * MINUTE);
    setSpot(world, true);
    const before = world.evictions.length;
    let lowest = 5;
    const returnedAt: number[] = [];
    await until(
      world,
      'all are back',
      async () => {
        const { spot, 'on-demand': onDemand } = await world.sides('shop', 'web');
        lowest = Math.min(lowest, spot + onDemand);
        while (returnedAt.length < world.evictions.length - before) returnedAt.push(world.clock.now());
        return spot === 3 && onDemand === 2;
      },
      6 * HOUR,
    );
    expect(world.evictions.length - before).toBe(3);
    expect(lowest).toBe(4);
    for (const [index, at] of returnedAt.entries()) {
      if (index > 0) expect(at - (returnedAt[index - 1] ?? 0)).toBeGreaterThanOrEqual(HOUR - 5_000);
    }
    await world.clock.advance(3 * HOUR);
    expect(world.evictions.length - before).toBe(3);
    expect(await covers(world)).toBe(0);
    const { fallbacks, returns } = deeds(world);
    // One return was the probe that found spot still away.
    expect(returns).toBe(fallbacks);
    expect(world.evictions).toHaveLength(fallbacks + returns);
    expect((await reasons(world)).get('FallbackToOnDemand')).toBe(1);
  });

  test('pods made while spot is closed do not wait: on-demand covers at once', async () => {
    const world = await start();
    setSpot(world, false);
    await create(world, deployment({ replicas: 2, percentage: 50, floor: 0 }));
    await untilSides(world, 0, 2, 10 * MINUTE);
    await scale(world, 4);
    await untilSides(world, 0, 4, 2 * MINUTE);
    expect(deeds(world)).toEqual({ fallbacks: 1, returns: 0 });
    expect(explained(world).plan.spot.covered).toBe(2);
    setSpot(world, true);
    await untilSides(world, 2, 2, 6 * HOUR);
  });

  test.each(['25%', '100%'])(
    'hazard H9: nor do those that replace cover in a rollout with a surge of %s',
    async (maxSurge) => {
      const world = await start();
      setSpot(world, false);
      await create(world, deployment({ replicas: 10, percentage: 70 }));
      await untilSides(world, 0, 10, 15 * MINUTE);
      const before = deeds(world).fallbacks;
      const strategy = { rollingUpdate: { maxSurge, maxUnavailable: 0 } };
      await patchDeployment(world, { strategy, template: versionTemplate('2') });
      await until(
        world,
        'all are of the new version',
        async () => {
          const pods = await podsOf(world, 'web');
          const isNew = pods.every(({ metadata }) => metadata?.annotations?.['version'] === '2');
          return isNew && pods.length === 10 && (await world.sides('shop', 'web')).pending === 0;
        },
        15 * MINUTE,
      );
      // Now and then one finds out whether spot is back.
      expect(deeds(world).fallbacks - before).toBeLessThanOrEqual(3);
    },
  );

  test('a scale-down takes cover away before anything else has to move', async () => {
    const world = await start();
    setSpot(world, false);
    await create(world, deployment({ replicas: 6, percentage: 50 }));
    await untilSides(world, 0, 6, 10 * MINUTE);
    await scale(world, 2);
    setSpot(world, true);
    await untilSides(world, 1, 1, 3 * HOUR);
    expect(deeds(world).returns).toBeLessThanOrEqual(2);
  });

  test('bug 9: at placement.fallback.returnPerWindow 2, two return in each disruption window and none outside', async () => {
    const world = await start({ config: 'placement:\n  fallback:\n    returnPerWindow: 2' });
    const annotations = { 'spotalis.io/disruption-schedule': '0 */2 * * *', 'spotalis.io/disruption-duration': '30m' };
    setSpot(world, false);
    await create(world, deployment({ replicas: 8, percentage: 75, annotations }));
    await untilSides(world, 0, 8, 10 * MINUTE);
    setSpot(world, true);
    // It is soon after noon: the windows to come are those of 14, 16, 18 and 20 hours.
    await world.clock.advance(31 * MINUTE - (world.clock.now() % HOUR));
    const perWindow: number[] = [];
    let returned = deeds(world).returns;
    for (let window = 0; window < 4; window++) {
      await world.clock.advance(88 * MINUTE);
      expect(deeds(world).returns).toBe(returned);
      await world.clock.advance(32 * MINUTE);
      perWindow.push(deeds(world).returns - returned);
      returned = deeds(world).returns;
    }
    expect(Math.max(...perWindow)).toBe(2);
    expect(await world.sides('shop', 'web')).toEqual({ spot: 6, 'on-demand': 2, pending: 0 });
  });

  test('a return that the API server refuses gives its turn back: it is tried again at once, not when a probe is given up', async () => {
    const world = await start();
    setSpot(world, false);
    await create(world, deployment({ replicas: 3, percentage: 50 }));
    await untilSides(world, 0, 3, 15 * MINUTE);
    setSpot(world, true);
    const before = world.evictions.length;
    const effect = { kind: 'status', code: 500, message: 'no luck' } as const;
    world.server.faults.add({ resources: ['pods/eviction'], effect, count: 1 });
    await until(world, 'one is refused', () => world.evictions.length > before, HOUR);
    await world.clock.advance(MINUTE);
    expect(world.evictions.length).toBe(before + 2);
    expect(deeds(world).returns).toBe(1);
  });

  test('bug 38: recreating the pod is what unsticks it; a rollout in the middle of the outage ends as well', async () => {
    const world = await start();
    await create(world, deployment({ replicas: 4, percentage: 50 }));
    await untilSides(world, 2, 2, 10 * MINUTE);
    setSpot(world, false);
    // The surge pod of the new revision goes where the first old pod left, so only what has no spot node left has to wait.
    await loseSpotNodes(world);
    const body = { spec: { template: { metadata: { annotations: { revision: '2' } } } } };
    await world.api.patch(resources.deployments, 'web', { type: 'merge', body }, inShop);
    await untilSides(world, 0, 4, 40 * MINUTE);
    setSpot(world, true);
    await untilSides(world, 2, 2, 6 * HOUR);
    const { fallbacks, returns } = deeds(world);
    expect(world.evictions.length).toBe(fallbacks + returns);
  });

  test('hazard H28: a new leader in the middle of the outage does not start over', async () => {
    const world = await start();
    setSpot(world, false);
    await create(world, deployment({ replicas: 4, percentage: 50 }));
    await untilSides(world, 0, 4, 10 * MINUTE);
    const before = world.evictions.length;
    world.cutOff('test_1');
    await world.startOperator('test_2');
    await world.clock.advance(MINUTE);
    // The cover that runs says that spot was closed a moment ago.
    expect(world.evictions.length).toBe(before);
    await scale(world, 6);
    await untilSides(world, 0, 6, 2 * MINUTE);
    setSpot(world, true);
    await untilSides(world, 3, 3, 8 * HOUR);
  });

  test('nothing is recreated in read-only mode; what would be is told', async () => {
    const world = await start();
    setSpot(world, false);
    await create(world, deployment({ replicas: 4, percentage: 50 }));
    await world.clock.advance(MINUTE);
    const config = configOf('operator:\n  readOnlyMode: true');
    world.operator().applyConfig(config);
    await world.clock.advance(20 * MINUTE);
    expect(world.evictions).toEqual([]);
    expect((await reasons(world)).get('WouldEvict')).toBe(1);
  });
});

describe('placement.fallback.maxPercent', () => {
  test('on-demand covers for no more than that; the others wait and are told', async () => {
    const world = await start({ config: 'placement:\n  fallback:\n    maxPercent: 50' });
    setSpot(world, false);
    await create(world, deployment({ replicas: 5, percentage: 80, floor: 0 }));
    await world.clock.advance(30 * MINUTE);
    const { 'on-demand': onDemand, pending } = await world.sides('shop', 'web');
    expect({ onDemand, pending }).toEqual({ onDemand: 3, pending: 2 });
    expect((await reasons(world)).get('FallbackShare')).toBeGreaterThanOrEqual(1);
    setSpot(world, true);
    await untilSides(world, 4, 1, 6 * HOUR);
  });
});
