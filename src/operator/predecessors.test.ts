/** Spotalis, OptiPod or MBCAS runs beside Stowage: whoever would do the same as the engine does has it for himself, and it is said. */
import { describe, expect, test } from 'vitest';
import type { Event } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import type { EmbeddedWorld } from './testing/embedded-world.ts';
import {
  createPolicy,
  deployLoaded,
  requestsOf,
  startSizedWorld,
  statusOf,
  workloadWrites,
} from './testing/sized-world.ts';
import {
  annotate,
  deploy,
  firstBlock,
  inShop,
  MINUTE,
  policy,
  startWorld,
  untilReady,
  untilSides,
} from './testing/steps.ts';
import { wish } from './testing/wish.ts';
import { untilPhase, statusOf as wishStatusOf, worldOf } from './testing/wished-world.ts';

/** A program of that system begins to run. */
async function begin(world: EmbeddedWorld, label: string, namespace = 'spotalis-system'): Promise<void> {
  const metadata = { name: label, namespace, labels: { 'app.kubernetes.io/name': label } };
  const spec = { containers: [{ name: 'manager', image: 'manager:1' }] };
  await world.api.create(resources.pods, { apiVersion: 'v1', kind: 'Pod', metadata, spec }, { namespace });
  await world.until('it runs', async () => {
    const { status } = await world.api.get(resources.pods, label, { namespace });
    return status?.phase === 'Running';
  });
}

const end = (world: EmbeddedWorld, label: string): Promise<unknown> =>
  world.api.delete(resources.pods, label, { namespace: 'spotalis-system', gracePeriodSeconds: 0 });

describe('placement beside Spotalis', () => {
  test('moves nothing while that runs, says why, and goes on by itself', async () => {
    const world = await startWorld();
    await deploy(world, 4, policy(0, 0));
    await begin(world, 'spotalis');
    await annotate(world, policy(50, 1));
    await world.clock.advance(10 * MINUTE);
    expect(world.evictions).toEqual([]);
    expect(firstBlock(world, 'Deployment', 'web')).toBe('PredecessorRuns');
    await end(world, 'spotalis');
    await untilSides(world, 'web', 2, 2);
  });

  test('is not held up by a tenant who calls his own pod so', async () => {
    const world = await startWorld();
    await deploy(world, 4, policy(0, 0));
    await begin(world, 'spotalis', 'shop');
    await annotate(world, policy(50, 1));
    await untilSides(world, 'web', 2, 2);
  });
});

describe('rightsizing beside OptiPod', () => {
  const start = async (group: 'optipod.io' | 'optipod.optipod.io'): Promise<EmbeddedWorld> => {
    const world = await startSizedWorld();
    await begin(world, 'optipod');
    await deployLoaded(world, { replicas: 2, cpu: '700m', memory: '420Mi' });
    await untilReady(world, 'web', 2);
    await createPolicy(world, { mode: 'Auto', group });
    return world;
  };
  const isSized = async (world: EmbeddedWorld): Promise<boolean> =>
    (await requestsOf(world)).every(({ cpu }) => cpu === '840m');

  test('writes nothing for a policy that both know, says why, and goes on by itself', async () => {
    const group = 'optipod.optipod.io';
    const world = await start(group);
    await world.until(
      'it is said',
      async () => (await statusOf(world, 'web', { group }))?.reason === 'PredecessorRuns',
      5 * MINUTE,
    );
    await world.clock.advance(5 * MINUTE);
    expect(await statusOf(world, 'web', { group })).toMatchObject({
      status: 'Skipped',
      message: expect.stringContaining('OptiPod runs beside Stowage (pod spotalis-system/optipod)'),
    });
    expect(workloadWrites(world)).toEqual([]);
    expect((await requestsOf(world)).map(({ cpu }) => cpu)).toEqual(['500m', '500m']);
    await end(world, 'optipod');
    await world.until('sized', () => isSized(world), 5 * MINUTE);
  });

  test('leaves what it writes on workloads that no policy here has the say over, until it is gone', async () => {
    const world = await startSizedWorld();
    await begin(world, 'optipod');
    // By a policy of another namespace: there it selects all of them.
    const annotations = { 'optipod.io/managed': 'true', 'optipod.io/recommendation.app.cpu-request': '250m' };
    await deployLoaded(world, { replicas: 1, annotations });
    await untilReady(world, 'web', 1);
    await world.clock.advance(10 * MINUTE);
    expect(workloadWrites(world)).toEqual([]);
    await end(world, 'optipod');
    const isLeft = async (): Promise<boolean> => {
      const { metadata } = await world.api.get(resources.deployments, 'web', inShop);
      return Object.keys(metadata?.annotations ?? {}).some((key) => key.startsWith('optipod.io/'));
    };
    await world.until('taken away', async () => !(await isLeft()), 5 * MINUTE);
  });

  test('acts on policies of the group that OptiPod does not know', async () => {
    const world = await start('optipod.io');
    await world.until('sized', () => isSized(world), 5 * MINUTE);
  });
});

describe('allocation beside MBCAS', () => {
  test('leaves every pod alone, tells agents and people, and goes on by itself', async () => {
    const world = await worldOf([{ name: 'web' }]);
    await begin(world, 'mbcas');
    await wish(world, 'web', { request: 300 });
    await untilPhase(world, 'web', 'Pending', 'ForeignWriter');
    await world.clock.advance(MINUTE);
    expect(world.resizes()).toBe(0);
    expect((await wishStatusOf(world, 'web')).guidance).toMatchObject({ hasForeignWriter: true });
    const { items } = await world.api.list<Event>(resources.events, inShop);
    expect(items.map(({ note }) => note)).toContainEqual(
      expect.stringContaining('CPU of pod web is not shared out: MBCAS runs beside Stowage'),
    );
    await end(world, 'mbcas');
    await wish(world, 'web', { request: 310 });
    await untilPhase(world, 'web', 'Applied');
    expect(await world.request('web')).toBe(310);
  });
});
