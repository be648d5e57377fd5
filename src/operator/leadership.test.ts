/** One replica acts; an API server that is slow or wrong. */
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Lease } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import { createEmbeddedWorld, type EmbeddedWorld, namespaceObject } from './testing/embedded-world.ts';
import { annotate, deploy, inShop, MINUTE, policy, startWorld, untilSides } from './testing/steps.ts';

describe('leadership', () => {
  const lease = (world: EmbeddedWorld) =>
    world.api.get<Lease>(resources.leases, 'spotalis-controller-leader', { namespace: 'spotalis-system' });

  test('case 75: of four replicas one holds the lease; when it goes another takes over and the work goes on', async () => {
    const world = await startWorld();
    for (const identity of ['test_2', 'test_3', 'test_4']) await world.startOperator(identity);
    await deploy(world, 6, policy(0, 0));
    expect((await lease(world)).spec?.holderIdentity).toBe('test_1');
    world.cutOff('test_1');
    await annotate(world, policy(100, 0));
    await world.until('another one leads', async () => (await lease(world)).spec?.holderIdentity !== 'test_1', MINUTE);
    await untilSides(world, 'web', 6, 0);
    expect(world.evictions).toHaveLength(6);
  });

  test('a replica that cannot renew the lease stops acting and ends', async () => {
    const world = await startWorld();
    await deploy(world, 4, policy(0, 0));
    const operator = world.operator();
    const ended = operator.ended.then(
      () => 'stopped',
      (error: unknown) => (error instanceof Error && 'code' in error ? error.code : error),
    );
    world.cutOff('test_1');
    await annotate(world, policy(100, 0));
    await world.clock.advance(MINUTE);
    expect(await ended).toBe('LEASE_LOST');
    expect(world.evictions).toEqual([]);
  });

  test('a new leader waits one cooldown before its first disruption', async () => {
    const world = await startWorld({ config: 'controllers:\n  workloadTiming:\n    cooldownPeriod: 2m' });
    await deploy(world, 4, policy(0, 0));
    await annotate(world, policy(100, 0));
    await world.clock.advance(100_000);
    expect(world.evictions).toEqual([]);
    await world.until('the first eviction', () => world.evictions.length === 1, MINUTE);
  });

  test('a leader that hands over amid moves doubles none: they number the drift, and keep their distance', async () => {
    const world = await startWorld();
    const leader = world.operator();
    await world.startOperator('test_2');
    await deploy(world, 6, policy(0, 0));
    await world.clock.advance(15_000);
    await annotate(world, policy(100, 0));
    const evictedAt: number[] = [];
    let stopping: Promise<void> | undefined;
    await world.until('all have moved', async () => {
      while (evictedAt.length < world.evictions.length) evictedAt.push(world.clock.now());
      if (evictedAt.length === 1) stopping ??= leader.stop();
      return (await world.sides('shop', 'web')).spot === 6;
    });
    await stopping;
    expect((await lease(world)).spec?.holderIdentity).toBe('test_2');
    expect(evictedAt).toHaveLength(6);
    for (const [index, at] of evictedAt.slice(1).entries())
      expect(at - (evictedAt[index] ?? 0)).toBeGreaterThanOrEqual(10_000 - 250);
  });

  test('the lease is released on stop', async () => {
    const world = await startWorld();
    const stopping = world.operator().stop();
    await world.clock.advance(1_000);
    await stopping;
    await world.operator().ended;
    expect((await lease(world)).spec?.holderIdentity ?? '').toBe('');
  });
});

describe('the API server under stress', () => {
  test('case 71: a throttled eviction waits for Retry-After and is no block by a budget', async () => {
    const world = await startWorld();
    await deploy(world, 4, policy(0, 0));
    await world.clock.advance(15_000);
    const effect = { kind: 'status', code: 429, retryAfterSeconds: 20 } as const;
    world.server.faults.add({ resources: ['pods/eviction'], effect, count: 1 });
    await annotate(world, policy(25, 0));
    await world.clock.advance(5_000);
    expect(world.evictions).toHaveLength(1);
    const { journal = [] } = world.operator().explain({ kind: 'Deployment', ...inShop, name: 'web' }) ?? {};
    expect(journal.at(-1)).toMatchObject({ kind: 'blocked', reason: 'ThrottledByApi' });
    await world.clock.advance(14_000);
    expect(world.evictions).toHaveLength(1);
    await untilSides(world, 'web', 1, 3);
    expect(world.evictions).toHaveLength(2);
  });
});

describe('data that cannot be trusted', () => {
  test('an eviction whose answer was lost counts as done: no second one before the cooldown', async () => {
    const world = await startWorld();
    await deploy(world, 4, policy(0, 0));
    await world.clock.advance(15_000);
    world.server.faults.add({ resources: ['pods/eviction'], effect: { kind: 'drop-after' }, count: 1 });
    await annotate(world, policy(50, 0));
    await world.clock.advance(9_000);
    expect(world.evictions).toHaveLength(1);
    await untilSides(world, 'web', 2, 2);
    await world.clock.advance(5 * MINUTE);
    expect(world.evictions).toHaveLength(2);
  });

  test('with a watch broken nothing is disrupted; once it is back the work goes on', async () => {
    const world = await startWorld();
    await deploy(world, 4, policy(0, 0));
    await world.clock.advance(15_000);
    const broken = world.server.faults.add({
      verbs: ['watch', 'list'],
      resources: ['nodes'],
      effect: { kind: 'drop' },
    });
    // The running watch ends at its own timeout, ten minutes at the latest.
    await world.clock.advance(11 * MINUTE);
    await annotate(world, policy(100, 0));
    await world.clock.advance(2 * MINUTE);
    expect(world.evictions).toEqual([]);
    const { decisions = [] } = world.operator().explain({ kind: 'Deployment', ...inShop, name: 'web' }) ?? {};
    expect(decisions[0]?.blocks[0]).toMatchObject({ reason: 'CachesStale' });
    broken.remove();
    await untilSides(world, 'web', 4, 0);
  });
});

describe('watches that lag', () => {
  test.each([20, 60, 90])('by %i ms: a burst is exact, and moves number exactly the drift', async (millis) => {
    const world = await createEmbeddedWorld();
    onTestFinished(() => world.stop());
    world.server.faults.add({ verbs: ['watch'], resources: ['pods'], effect: { kind: 'delay-events', millis } });
    await world.api.create(resources.namespaces, namespaceObject('shop'));
    await world.startOperator();
    await deploy(world, 20);
    expect(await world.sides('shop', 'web')).toEqual({ spot: 14, 'on-demand': 6, pending: 0 });
    await annotate(world, policy(50));
    await untilSides(world, 'web', 10, 10);
    expect(world.evictions).toHaveLength(4);
    await world.clock.advance(5 * MINUTE);
    expect(world.evictions).toHaveLength(4);
  });

  test('by a whole second: wrong moves may happen, but they are few, and the end is right', async () => {
    const world = await createEmbeddedWorld();
    onTestFinished(() => world.stop());
    const effect = { kind: 'delay-events', millis: 1_000 } as const;
    world.server.faults.add({ verbs: ['watch'], resources: ['pods'], effect });
    await world.api.create(resources.namespaces, namespaceObject('shop'));
    await world.startOperator();
    await deploy(world, 20);
    await annotate(world, policy(50));
    await world.clock.advance(10 * MINUTE);
    await untilSides(world, 'web', 10, 10);
    expect(world.evictions.length).toBeLessThanOrEqual(8);
  });
});
