/** What is managed, what budgets allow, and what is told. */
import { describe, expect, test } from 'vitest';
import type { Event, PodDisruptionBudget } from '../api/core.ts';
import { type ResourceType, resources } from '../api/resources.ts';
import { createMetrics } from '../lib/metrics.ts';
import { deploymentObject } from './testing/embedded-world.ts';
import {
  annotate,
  deploy,
  eventReasons,
  inShop,
  MINUTE,
  podsOf,
  policy,
  startWorld,
  untilReady,
  untilSides,
} from './testing/steps.ts';

describe('budgets', () => {
  const budget = (spec: object): PodDisruptionBudget =>
    ({
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'web', namespace: 'shop' },
      spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
    }) as PodDisruptionBudget;

  test('case 69: minAvailable equal to the replicas: no eviction is even asked for, and one event says why', async () => {
    const world = await startWorld();
    await deploy(world, 3, policy(0, 0));
    await world.api.create(resources.podDisruptionBudgets, budget({ minAvailable: 3 }), inShop);
    await world.clock.advance(5_000);
    await annotate(world, policy(100, 0));
    await world.clock.advance(10 * MINUTE);
    expect(world.evictions).toEqual([]);
    expect(await world.sides('shop', 'web')).toEqual({ spot: 0, 'on-demand': 3, pending: 0 });
    expect((await eventReasons(world)).filter((reason) => reason === 'BlockedByPdb')).toHaveLength(1);
  });

  test('case 69: maxUnavailable 1: converges and is never below the budget', async () => {
    const world = await startWorld();
    await deploy(world, 5, policy(0, 0));
    await world.api.create(resources.podDisruptionBudgets, budget({ maxUnavailable: 1 }), inShop);
    await annotate(world, policy(100, 0));
    let lowest = 5;
    await world.until('5/0', async () => {
      const { spot, 'on-demand': onDemand } = await world.sides('shop', 'web');
      lowest = Math.min(lowest, spot + onDemand);
      return spot === 5;
    });
    expect(lowest).toBeGreaterThanOrEqual(4);
    expect(world.evictions).toHaveLength(5);
  });
});

describe('management', () => {
  test('case 57: an unlabelled namespace stops evictions, the label back takes effect promptly', async () => {
    const world = await startWorld();
    await deploy(world, 4, policy(0, 0));
    const label = (value: string | null) =>
      world.api.patch(resources.namespaces, 'shop', {
        type: 'merge',
        body: { metadata: { labels: { 'spotalis.io/enabled': value } } },
      });
    await label(null);
    await annotate(world, policy(100, 0));
    await world.clock.advance(5 * MINUTE);
    expect(world.evictions).toEqual([]);
    await label('true');
    await world.clock.advance(2_000);
    expect(world.evictions).toHaveLength(1);
  });

  test('case 45: a workload without the label is never touched, nor is one that is deleted', async () => {
    const world = await startWorld();
    await world.api.create(
      resources.deployments,
      deploymentObject({ name: 'web', replicas: 3, labels: {}, annotations: policy(100, 0) }),
      inShop,
    );
    await untilReady(world, 'web', 3);
    await world.api.delete(resources.deployments, 'web', { ...inShop, propagationPolicy: 'Background' });
    await world.clock.advance(MINUTE);
    expect(world.evictions).toEqual([]);
    expect(world.operator().explain({ kind: 'Deployment', ...inShop, name: 'web' })).toBeUndefined();
  });

  test('case 48: an invalid value: nothing moves, one warning names key, value and grammar; repaired at once', async () => {
    const world = await startWorld();
    await deploy(world, 4, policy(0, 0));
    await annotate(world, { 'spotalis.io/spot-percentage': '150' });
    await world.clock.advance(10 * MINUTE);
    expect(world.evictions).toEqual([]);
    const { items } = await world.api.list<Event>(resources.events, inShop);
    const warnings = items.filter(({ reason }) => reason === 'InvalidConfiguration');
    expect(warnings).toHaveLength(1);
    expect(warnings[0]?.note).toContain('spotalis.io/spot-percentage');
    expect(warnings[0]?.note).toContain('"150"');
    expect(warnings[0]?.note).toContain('from 0 to 100');
    await annotate(world, { 'spotalis.io/spot-percentage': '100' });
    await untilSides(world, 'web', 4, 0);
  });

  test.each<[string, ResourceType, string, object]>([
    ['workload', resources.deployments, 'web', inShop],
    ['namespace', resources.namespaces, 'shop', {}],
  ])(
    'a value that was never valid is told of until the label of the %s is taken away',
    async (_, type, name, where) => {
      const metrics = createMetrics();
      const world = await startWorld({ metrics });
      await deploy(world, 2, { 'spotalis.io/spot-percentage': '150' });
      await world.clock.advance(5_000);
      const series = async () => (await metrics.render()).split('\n').filter((line) => line.includes('workload="web"'));
      expect(await series()).toContainEqual(expect.stringMatching(/^spotalis_invalid_configuration\{.* 1$/));
      const body = { metadata: { labels: { 'spotalis.io/enabled': null } } };
      await world.api.patch(type, name, { type: 'merge', body }, where);
      await world.clock.advance(5_000);
      expect(await series()).toEqual([]);
    },
  );

  test('case 58: read-only: no eviction, no mutation, what would be done is told', async () => {
    const metrics = createMetrics();
    const world = await startWorld({ config: 'operator:\n  readOnlyMode: true', metrics });
    await world.api.create(
      resources.deployments,
      deploymentObject({ name: 'web', replicas: 6, annotations: policy(100, 0) }),
      inShop,
    );
    await untilReady(world, 'web', 6);
    const pods = await podsOf(world, 'web');
    expect(pods.every((pod) => pod.spec?.nodeSelector === undefined && pod.metadata?.annotations === undefined)).toBe(
      true,
    );
    await world.clock.advance(5 * MINUTE);
    expect(world.evictions).toEqual([]);
    expect(world.operatorWrites.filter((write) => !/events|leases/.test(write))).toEqual([]);
    expect((await world.sides('shop', 'web'))['on-demand']).toBeGreaterThan(0);
    expect((await eventReasons(world)).filter((reason) => reason === 'WouldEvict')).toHaveLength(1);
    expect(await metrics.render()).toMatch(/^spotalis_evictions_total\{result="dry-run"\} [1-9]/m);
  });
});

describe('many workloads at once', () => {
  test('the cluster-wide budget holds, and every workload has its turn before one has its second', async () => {
    const world = await startWorld({ config: 'placement:\n  maxConcurrentEvictions: 1' });
    const names = ['a', 'b', 'c', 'd'];
    for (const name of names) {
      const deployment = deploymentObject({ name, replicas: 3, annotations: policy(0, 0) });
      const annotations = { 'stowage.test/stop-after': '20s' };
      const template = { ...deployment.spec?.template, metadata: { labels: { app: name }, annotations } };
      const spec = { ...deployment.spec, selector: { matchLabels: { app: name } }, template };
      await world.api.create(resources.deployments, { ...deployment, spec }, inShop);
    }
    for (const name of names) await untilReady(world, name, 3);
    await world.clock.advance(15_000);
    const body = { metadata: { annotations: policy(67, 0) } };
    for (const name of names) await world.api.patch(resources.deployments, name, { type: 'merge', body }, inShop);
    let most = 0;
    await world.until('all have moved two pods', async () => {
      const { items } = await world.api.list(resources.pods, inShop);
      most = Math.max(most, items.filter((pod) => pod.metadata?.deletionTimestamp !== undefined).length);
      return world.evictions.length === 2 * names.length;
    });
    expect(most).toBe(1);
    const firstRound = world.evictions.slice(0, names.length).map((pod) => pod[0]);
    expect(new Set(firstRound)).toEqual(new Set(names));
  });
});

test('explain tells slots, what blocks and what was done', async () => {
  const world = await startWorld({
    config: 'operator:\n  disruptionWindow:\n    schedule: "0 2 * * *"\n    duration: 1h',
  });
  await deploy(world, 4, policy(0, 0));
  await annotate(world, policy(50, 0));
  await world.clock.advance(5_000);
  const explanation = world.operator().explain({ kind: 'Deployment', ...inShop, name: 'web' });
  expect(explanation?.plan).toMatchObject({ drift: 2, target: { spot: 2, onDemand: 2 } });
  expect(explanation?.decisions[0]?.blocks[0]?.reason).toBe('OutsideWindow');
  expect(explanation?.journal.at(-1)).toMatchObject({ kind: 'blocked', reason: 'OutsideWindow' });
  expect(() => JSON.stringify(explanation)).not.toThrow();
});
