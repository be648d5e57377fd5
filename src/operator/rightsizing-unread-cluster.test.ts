/** What policies tell, and what is done, while the operator cannot read all of the cluster. */
import { describe, expect, test } from 'vitest';
import {
  conditionOf,
  createPolicy,
  deployLoaded,
  sizedEvents,
  startSizedWorld,
  statusOf,
} from './testing/sized-world.ts';
import { MINUTE, untilReady } from './testing/steps.ts';

describe('a cluster that cannot be read', () => {
  const verbs = ['list', 'watch'];

  // Feature of Property 28: what may not be read is not monitored, and conditions and events say so.
  test('for want of a right: the next leader sizes nothing, says so, and what was known stays', async () => {
    const world = await startSizedWorld();
    await deployLoaded(world, { replicas: 1 });
    await untilReady(world, 'web', 1);
    await createPolicy(world, { mode: 'Auto' });
    await world.until('applied', async () => (await statusOf(world))?.status === 'Applied');
    const known = await statusOf(world);
    const effect = { kind: 'status', code: 403, message: 'User "stowage" cannot list resource "daemonsets"' } as const;
    const fault = world.server.faults.add({ verbs, resources: ['daemonsets'], effect });
    world.cutOff('test_1');
    await world.startOperator('test_2');
    const permissions = () => conditionOf(world, 'sizes', 'PermissionsSufficient');
    await world.until('told', async () => (await permissions())?.reason === 'ReadForbidden');
    expect(await permissions()).toMatchObject({
      status: 'False',
      message: expect.stringMatching(/daemonSets: .*cannot list.*Suggestion: Grant/),
    });
    expect(await conditionOf(world, 'sizes', 'Degraded')).toMatchObject({ status: 'True', reason: 'DiscoveryFailed' });
    expect(await conditionOf(world, 'sizes', 'Ready')).toMatchObject({ status: 'True' });
    expect(await statusOf(world)).toEqual(known);
    const told = (await sizedEvents(world)).filter(({ reason }) => reason === 'DiscoveryFailed');
    expect(told.map(({ regarding, type }) => [regarding?.kind, type])).toEqual([['OptimizationPolicy', 'Warning']]);
    fault.remove();
    await world.until('all is well', async () => (await permissions())?.status === 'True');
    expect(await conditionOf(world, 'sizes', 'Degraded')).toMatchObject({ status: 'False' });
  });

  test('for a while: told by an event at once, by a condition when it lasts', async () => {
    const world = await startSizedWorld();
    await deployLoaded(world, { replicas: 1 });
    await untilReady(world, 'web', 1);
    await createPolicy(world);
    await world.until('advised', async () => (await statusOf(world))?.status === 'Recommended');
    const fault = world.server.faults.add({ verbs, resources: ['statefulsets'], effect: { kind: 'outage' } });
    const degraded = () => conditionOf(world, 'sizes', 'Degraded');
    await world.until('an event', async () =>
      (await sizedEvents(world)).some(({ reason }) => reason === 'DiscoveryFailed'),
    );
    expect(await degraded()).toMatchObject({ status: 'False' });
    await world.until('a condition', async () => (await degraded())?.reason === 'DiscoveryFailed', 5 * MINUTE);
    expect(await conditionOf(world, 'sizes', 'PermissionsSufficient')).toMatchObject({ status: 'True' });
    expect((await statusOf(world))?.status).toBe('Recommended');
    fault.remove();
    await world.until('all is well', async () => (await degraded())?.status === 'False', 5 * MINUTE);
  });
});
