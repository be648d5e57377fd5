/** Storms over zones, and StatefulSets whose pods come in order. */
import { describe, expect, test } from 'vitest';
import type { StatefulSet } from '../api/core.ts';
import {
  create,
  deeds,
  deedsOf,
  deployment,
  explained,
  type Fields,
  HOUR,
  MINUTE,
  metadataOf,
  pool,
  scale,
  setSpot,
  start,
  templateOf,
  until,
  untilSides,
} from './testing/fallback-world.ts';

const statefulSet = (fields: Fields): StatefulSet => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: metadataOf(fields),
  spec: {
    replicas: fields.replicas,
    serviceName: 'db',
    selector: { matchLabels: { app: fields.name ?? 'web' } },
    template: templateOf(fields.name ?? 'web'),
  },
});

describe('hazard H11, bug 36: a StatefulSet whose pods come in order', () => {
  test('falls back after half the time, one pod at a time, and goes back when spot does', async () => {
    const world = await start();
    setSpot(world, false);
    await create(world, statefulSet({ name: 'db', replicas: 4, percentage: 50, floor: 1 }));
    const startedAt = world.clock.now();
    await until(world, 'the first fallback', () => deedsOf(world, 'StatefulSet', 'db').fallbacks === 1, 10 * MINUTE);
    expect(world.clock.now() - startedAt).toBeLessThan(4 * MINUTE);
    await untilSides(world, 0, 4, 10 * MINUTE, 'db');
    // The ordinals after the first need not wait: spot is known to be away.
    expect(deedsOf(world, 'StatefulSet', 'db').fallbacks).toBe(1);
    setSpot(world, true);
    let lowest = 4;
    await until(
      world,
      'two are back',
      async () => {
        const { spot, 'on-demand': onDemand } = await world.sides('shop', 'db');
        lowest = Math.min(lowest, spot + onDemand);
        return spot === 2 && onDemand === 2;
      },
      6 * HOUR,
    );
    expect(lowest).toBe(3);
  });
});

describe('hazard H8, bug 35: a storm over three zones', () => {
  test('nothing is moved before it is calm; replacements take cover; everything is back in the end', async () => {
    const world = await start({ pools: [pool('spot', 'spot', { minNodes: 6 }), pool('on-demand', 'on-demand')] });
    await create(world, deployment({ replicas: 10, percentage: 80, floor: 2 }));
    await untilSides(world, 8, 2, 10 * MINUTE);
    await scale(world, 9);
    await world.clock.advance(MINUTE);
    const stormAt = world.clock.now();
    setSpot(world, false);
    world.cluster.autoscaler.storm({ share: 1, withinMillis: 3 * MINUTE });
    await world.clock.advance(6 * MINUTE);
    const { plan, decisions } = explained(world);
    expect(decisions.flatMap(({ blocks }) => blocks.map(({ reason }) => reason))).toContain('StormCalm');
    expect(plan.spot.covered).toBeGreaterThan(4);
    expect(plan.notes.map(({ text }) => text).join()).toContain('temporary cover');
    expect(deeds(world)).toEqual({ fallbacks: 0, returns: 0 });
    setSpot(world, true);
    let firstMoveAt: number | undefined;
    await until(
      world,
      'all are back',
      async () => {
        if (deeds(world).returns > 0) firstMoveAt ??= world.clock.now();
        const { spot, 'on-demand': onDemand } = await world.sides('shop', 'web');
        return spot === 7 && onDemand === 2;
      },
      12 * HOUR,
    );
    expect((firstMoveAt ?? 0) - stormAt).toBeGreaterThan(10 * MINUTE);
    const { fallbacks, returns } = deeds(world);
    expect(fallbacks).toBe(0);
    expect(returns).toBeLessThanOrEqual(8);
  });
});
