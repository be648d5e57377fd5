/** An autoscaler makes nodes of on-demand, as is configured; at present it has none to give. */
import { expect, test } from 'vitest';
import { create, deployment, MINUTE, start, untilSides } from './testing/fallback-world.ts';
import { annotate, firstBlock, policy } from './testing/steps.ts';

test('one pod finds that out: none of its workload, nor of others, comes to wait beside it', async () => {
  const world = await start();
  const sizes = { a: 8, b: 4, c: 4 };
  for (const [name, replicas] of Object.entries(sizes)) {
    await create(world, deployment({ name, replicas, percentage: 100, floor: 0 }));
    await untilSides(world, replicas, 0, 10 * MINUTE, name);
  }
  world.cluster.autoscaler.setPoolAvailability('on-demand', false);
  await annotate(world, policy(75, 0), 'a');
  await world.clock.advance(5 * MINUTE);
  expect(world.evictions).toHaveLength(1);
  await annotate(world, policy(75, 0), 'b');
  await annotate(world, policy(75, 0), 'c');
  await world.clock.advance(40 * MINUTE);
  expect(world.evictions).toHaveLength(1);
  for (const name of Object.keys(sizes)) expect(firstBlock(world, 'Deployment', name)).toBe('NoRoomOnSide');
  world.cluster.autoscaler.setPoolAvailability('on-demand', true);
  await untilSides(world, 6, 2, 60 * MINUTE, 'a');
  await untilSides(world, 3, 1, 60 * MINUTE, 'b');
  await untilSides(world, 3, 1, 60 * MINUTE, 'c');
  expect(world.evictions).toHaveLength(4);
});
