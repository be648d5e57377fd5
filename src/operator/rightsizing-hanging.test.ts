/** What the engine does while the API server does not answer some of its writes. */
import { describe, expect, test } from 'vitest';
import { resources } from '../api/resources.ts';
import { createPolicy, deployLoaded, requestsOf, startSizedWorld, statusOf } from './testing/sized-world.ts';
import { inShop, MINUTE, untilReady } from './testing/steps.ts';

describe('saves that hang', () => {
  test('rightsizing bug 27: hold up neither sizing nor the status', async () => {
    const world = await startSizedWorld({ rightsizing: '  saveInterval: 10s\n' });
    world.server.faults.add({ resources: ['configmaps'], verbs: ['patch'], effect: { kind: 'freeze' } });
    await createPolicy(world, { mode: 'Auto' });
    for (const name of ['web', 'api']) {
      await deployLoaded(world, { name });
      await untilReady(world, name, 2);
      await world.until(`${name} is resized`, async () =>
        (await requestsOf(world, name)).every(({ cpu, memory }) => cpu === '240m' && memory === '120Mi'),
      );
      await world.until('and told', async () => (await statusOf(world, name))?.status === 'Applied');
      await world.clock.advance(5 * MINUTE);
    }
    // Each was begun anew, though none has ended.
    expect(world.operatorWrites.filter((write) => write === 'patch configmaps').length).toBeGreaterThan(20);
    expect((await world.api.list(resources.configMaps, { namespace: 'spotalis-system' })).items).toEqual([]);
    await world.api.delete(resources.deployments, 'web', inShop);
    await world.until('what is gone is told of no more', async () => (await statusOf(world, 'web')) === undefined);
  });
});
