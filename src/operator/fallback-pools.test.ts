/** Pools that come and go, are missing on both sides, or fail for one workload only. */
import { describe, expect, test } from 'vitest';
import type { Deployment } from '../api/core.ts';
import {
  create,
  deeds,
  deployment,
  HOUR,
  loseSpotNodes,
  MINUTE,
  reasons,
  setSpot,
  start,
  until,
  untilSides,
} from './testing/fallback-world.ts';

describe('hazard H6, bug 16: a pool that comes and goes', () => {
  test('moves pods ever more rarely: returns never exceed fallbacks, and both grow slowly', async () => {
    const world = await start();
    await create(world, deployment({ replicas: 5, percentage: 60 }));
    await untilSides(world, 3, 2, 10 * MINUTE);
    let lowest = 5;
    for (let round = 0; round < 24; round++) {
      setSpot(world, false);
      await loseSpotNodes(world);
      await world.clock.advance(10 * MINUTE);
      setSpot(world, true);
      await world.clock.advance(10 * MINUTE);
      const { spot, 'on-demand': onDemand } = await world.sides('shop', 'web');
      lowest = Math.min(lowest, spot + onDemand);
    }
    const { fallbacks, returns } = deeds(world);
    // Eight hours: tried naively it would be three pods there and back in each of 24 rounds.
    expect(returns).toBeLessThanOrEqual(8);
    expect(returns).toBeLessThanOrEqual(fallbacks);
    expect(fallbacks).toBeLessThanOrEqual(3 + 8);
    expect(lowest).toBeGreaterThanOrEqual(4);
    setSpot(world, true);
    await untilSides(world, 3, 2, 8 * HOUR);
  });
});

describe('hazard H7: on-demand is missing', () => {
  test('the floor is not met with spot: its pods stay Pending, and are reported', async () => {
    const world = await start();
    world.cluster.autoscaler.setPoolAvailability('on-demand', false);
    await create(world, deployment({ replicas: 5, percentage: 100, floor: 2 }));
    await until(world, 'three on spot', async () => (await world.sides('shop', 'web')).spot === 3, 10 * MINUTE);
    await world.clock.advance(2 * HOUR);
    expect(await world.sides('shop', 'web')).toEqual({ spot: 3, 'on-demand': 0, pending: 2 });
    expect(world.evictions).toEqual([]);
    expect((await reasons(world)).get('OnDemandCapacityMissing')).toBeGreaterThanOrEqual(1);
    world.cluster.autoscaler.setPoolAvailability('on-demand', true);
    await untilSides(world, 3, 2, 20 * MINUTE);
  });

  test('spot comes back alone: pods that wait for on-demand in vain go back to it, whatever its pace and its window', async () => {
    const world = await start();
    setSpot(world, false);
    world.cluster.autoscaler.setPoolAvailability('on-demand', false);
    const closed = { 'spotalis.io/disruption-schedule': '0 3 * * *', 'spotalis.io/disruption-duration': '1m' };
    await create(world, deployment({ replicas: 6, percentage: 67, floor: 2, annotations: closed }));
    await create(world, deployment({ name: 'single', replicas: 1, percentage: 100, floor: 0 }));
    await world.clock.advance(30 * MINUTE);
    expect(await world.sides('shop', 'web')).toMatchObject({ pending: 6 });
    setSpot(world, true);
    await until(world, 'four on spot', async () => (await world.sides('shop', 'web')).spot === 4, 2 * HOUR);
    await until(world, 'one on spot', async () => (await world.sides('shop', 'single')).spot === 1, 2 * HOUR);
    expect(await world.sides('shop', 'web')).toEqual({ spot: 4, 'on-demand': 0, pending: 2 });
  });

  test('with neither side to be had pods are moved to and fro ever more seldom, and none that runs', async () => {
    const world = await start();
    setSpot(world, false);
    world.cluster.autoscaler.setPoolAvailability('on-demand', false);
    await create(world, deployment({ replicas: 4, percentage: 50, floor: 0 }));
    await world.clock.advance(6 * HOUR);
    // Each waiting pod is given its chance on on-demand, and one at a time tries spot again after pauses of 3 minutes to an hour.
    expect(deeds(world).fallbacks).toBeLessThanOrEqual(2 + 9);
    expect(world.evictions.length).toBeLessThanOrEqual(2 + 2 * 9);
    setSpot(world, true);
    world.cluster.autoscaler.setPoolAvailability('on-demand', true);
    await untilSides(world, 2, 2, 8 * HOUR);
  });
});

describe('bug 11: spot fails for one workload only', () => {
  test('a workload that asks for what no node has does not close spot for others', async () => {
    const world = await start();
    const odd = deployment({ name: 'odd', replicas: 2, percentage: 100, floor: 0 });
    const spec = { ...odd.spec?.template?.spec, nodeSelector: { disk: 'nvme' } };
    await create(world, { ...odd, spec: { ...odd.spec, template: { ...odd.spec?.template, spec } } } as Deployment);
    await world.clock.advance(12 * MINUTE);
    await create(world, deployment({ replicas: 4, percentage: 50 }));
    await untilSides(world, 2, 2, 5 * MINUTE);
  });

  test('two ordinary workloads without room close it for a third, whose pods then do not wait', async () => {
    const world = await start();
    setSpot(world, false);
    for (const name of ['one', 'two']) await create(world, deployment({ name, replicas: 2, percentage: 50, floor: 0 }));
    await untilSides(world, 0, 2, 10 * MINUTE, 'one');
    await untilSides(world, 0, 2, 10 * MINUTE, 'two');
    await create(world, deployment({ name: 'third', replicas: 2, percentage: 50, floor: 0 }));
    await untilSides(world, 0, 2, 2 * MINUTE, 'third');
  });
});
