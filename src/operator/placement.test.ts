/** What the operator makes of new, scaled and broken workloads. */
import { describe, expect, test } from 'vitest';
import type { Deployment, StatefulSet } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import { createLogger } from '../lib/log.ts';
import { createMetrics } from '../lib/metrics.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { deploymentObject, type EmbeddedWorld, statefulSetObject } from './testing/embedded-world.ts';
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
} from './testing/steps.ts';

const scale = (world: EmbeddedWorld, replicas: number) => patchDeployment(world, { replicas });

describe('a new Deployment', () => {
  test('of 10 at 70 % with floor 1 lands 7/3 without one eviction', async () => {
    const world = await startWorld();
    await deploy(world, 10);
    expect(await world.sides('shop', 'web')).toEqual({ spot: 7, 'on-demand': 3, pending: 0 });
    await world.clock.advance(5 * MINUTE);
    expect(await world.sides('shop', 'web')).toEqual({ spot: 7, 'on-demand': 3, pending: 0 });
    expect(world.evictions).toEqual([]);
  });

  test('a cluster at rest is left at rest: no write but the lease', async () => {
    const world = await startWorld();
    await deploy(world, 10);
    await world.clock.advance(2 * MINUTE);
    const before = world.operatorWrites.length;
    await world.clock.advance(10 * MINUTE);
    const since = world.operatorWrites.slice(before).filter((write) => !write.endsWith('leases'));
    expect(since).toEqual([]);
  });

  test('scaled like an autoscaler 10 -> 30 -> 8 keeps the mix without one eviction', async () => {
    const world = await startWorld();
    await deploy(world, 10);
    await scale(world, 30);
    await untilSides(world, 'web', 21, 9);
    await scale(world, 8);
    await untilSides(world, 'web', 6, 2);
    await world.clock.advance(2 * MINUTE);
    expect(await world.sides('shop', 'web')).toEqual({ spot: 6, 'on-demand': 2, pending: 0 });
    expect(world.evictions).toEqual([]);
  });
});

describe('case 54: a changed annotation converges', () => {
  test('one eviction at a time, no more than the drift, cooldown between them', async () => {
    const world = await startWorld();
    await deploy(world, 6, policy(0, 0));
    expect(await world.sides('shop', 'web')).toEqual({ spot: 0, 'on-demand': 6, pending: 0 });
    await annotate(world, policy(50, 0));
    let lowest = 6;
    const evictedAt: number[] = [];
    await world.until('3/3', async () => {
      const { spot, 'on-demand': onDemand } = await world.sides('shop', 'web');
      lowest = Math.min(lowest, spot + onDemand);
      while (evictedAt.length < world.evictions.length) evictedAt.push(world.clock.now());
      return spot === 3 && onDemand === 3;
    });
    expect(lowest).toBe(5);
    expect(world.evictions).toHaveLength(3);
    for (let index = 1; index < evictedAt.length; index++) {
      expect((evictedAt[index] ?? 0) - (evictedAt[index - 1] ?? 0)).toBeGreaterThanOrEqual(10_000 - 250);
    }
    await annotate(world, policy(100, 0));
    await untilSides(world, 'web', 6, 0);
    expect(world.evictions).toHaveLength(6);
    await world.clock.advance(5 * MINUTE);
    expect(world.evictions).toHaveLength(6);
  });

  test('case 47: 30 s after a move a cooldown of 60 s has 30 s left', async () => {
    const world = await startWorld({ config: 'controllers:\n  workloadTiming:\n    cooldownPeriod: 60s' });
    await deploy(world, 4, policy(0, 0));
    await world.clock.advance(MINUTE);
    await annotate(world, policy(100, 0));
    await world.until('the first eviction', () => world.evictions.length === 1);
    await world.clock.advance(30_000);
    const { decisions = [] } = world.operator().explain({ kind: 'Deployment', ...inShop, name: 'web' }) ?? {};
    const [block] = decisions[0]?.blocks ?? [];
    expect(block?.reason).toBe('CooldownActive');
    expect(block?.retryAfterMillis).toBeGreaterThan(29_000);
    expect(block?.retryAfterMillis).toBeLessThanOrEqual(30_000);
    await world.clock.advance(29_000);
    expect(world.evictions).toHaveLength(1);
    await world.clock.advance(1_500);
    expect(world.evictions).toHaveLength(2);
  });

  test('the cooldown counts from the answer: an eviction that took long to be carried out shortens no pause', async () => {
    const world = await startWorld();
    await deploy(world, 4, policy(0, 0));
    const before = new Set((await podsOf(world, 'web')).map(({ metadata }) => metadata?.uid));
    const evicted = async (): Promise<number> => {
      const pods = await podsOf(world, 'web');
      const kept = pods.filter(
        ({ metadata }) => before.has(metadata?.uid) && metadata?.deletionTimestamp === undefined,
      );
      return before.size - kept.length;
    };
    world.server.faults.add({ resources: ['pods/eviction'], count: 1, effect: { kind: 'slow', millis: 6_000 } });
    await annotate(world, policy(50, 0));
    await world.until('the first pod going', async () => (await evicted()) === 1);
    await world.clock.advance(9_500);
    expect(await evicted()).toBe(1);
    await world.clock.advance(2_000);
    expect(await evicted()).toBe(2);
  });

  test('case 53: replicas and template are never modified', async () => {
    const world = await startWorld();
    await deploy(world, 4, policy(0, 0));
    const before = await world.api.get<Deployment>(resources.deployments, 'web', inShop);
    await annotate(world, policy(100, 0));
    await untilSides(world, 'web', 4, 0);
    const after = await world.api.get<Deployment>(resources.deployments, 'web', inShop);
    expect(after.spec).toEqual(before.spec);
    expect(after.metadata?.generation).toBe(before.metadata?.generation);
    const writes = new Set(world.operatorWrites);
    for (const write of writes) expect(write).toMatch(/pods\/eviction|^patch pods$|events$|leases$/);
  });
});

describe('repair', () => {
  test('pods admitted while the webhook was down are moved within the usual pace', async () => {
    const world = await startWorld();
    await deploy(world, 1, policy(0), 'first');
    world.setWebhookUp(false);
    await deploy(world, 10);
    const { spot } = await world.sides('shop', 'web');
    expect(spot).not.toBe(7);
    world.setWebhookUp(true);
    await untilSides(world, 'web', 7, 3);
    expect((await eventReasons(world)).filter((reason) => reason === 'MissedAdmission')).toHaveLength(1);
    expect(world.evictions).toHaveLength(Math.abs(7 - spot));
    await world.clock.advance(5 * MINUTE);
    expect(world.evictions).toHaveLength(Math.abs(7 - spot));
  });

  test('with the webhook off no pod is moved, as the next would come back anywhere: that is said, and not that it was missed', async () => {
    const lines: string[] = [];
    const clock = createVirtualClock(0);
    const log = createLogger({ level: 'warn', format: 'json', clock, write: (line) => lines.push(line) });
    const metrics = createMetrics();
    const world = await startWorld({ isWebhookOff: true, metrics, log });
    await deploy(world, 10, policy(0));
    expect((await world.sides('shop', 'web')).spot).toBeGreaterThan(0);
    await world.clock.advance(20 * MINUTE);
    expect(world.evictions).toEqual([]);
    expect(firstBlock(world, 'Deployment', 'web')).toBe('WebhookOff');
    const reasons = await eventReasons(world);
    expect(reasons).toContain('WebhookOff');
    expect(reasons).not.toContain('MissedAdmission');
    expect(await metrics.render()).toMatch(/^spotalis_missed_admissions_total 0$/m);
    expect(lines.join('')).toContain('webhook.enabled is false');
  });

  test('case 60: only the label, pods on spot: all move to on-demand once, then rest', async () => {
    const world = await startWorld();
    world.setWebhookUp(false);
    await world.api.create(resources.deployments, deploymentObject({ name: 'web', replicas: 4 }), inShop);
    await untilReady(world, 'web', 4);
    const { spot } = await world.sides('shop', 'web');
    expect(spot).toBeGreaterThan(0);
    world.setWebhookUp(true);
    await untilSides(world, 'web', 0, 4);
    await world.clock.advance(10 * MINUTE);
    expect(world.evictions).toHaveLength(spot);
  });

  test('case 35: a lost spot pod at 7/3 comes back on spot, a lost on-demand pod on on-demand', async () => {
    const world = await startWorld();
    await deploy(world, 10);
    for (const side of ['spot', 'on-demand']) {
      const lost = (await podsOf(world, 'web')).find((pod) => pod.spec?.nodeName?.startsWith(side));
      await world.api.delete(resources.pods, lost?.metadata?.name ?? '', inShop);
      await world.clock.advance(2_000);
      await untilSides(world, 'web', 7, 3);
    }
    expect(world.evictions).toEqual([]);
  });
});

describe('stamps', () => {
  const slots = async (world: EmbeddedWorld) =>
    (await podsOf(world, 'web'))
      .map(({ metadata }) => Number(metadata?.annotations?.['spotalis.io/slot']))
      .sort((a, b) => a - b);

  test('when only slots and sides disagree, annotations are corrected and nothing is evicted; a batch at a time', async () => {
    const world = await startWorld();
    await deploy(world, 40, policy(50, 0));
    expect(await world.sides('shop', 'web')).toEqual({ spot: 20, 'on-demand': 20, pending: 0 });
    await world.clock.advance(MINUTE);
    const before = world.operatorWrites.length;
    // As many on each side as before, but now the first twenty slots are on-demand.
    await annotate(world, policy(100, 20));
    await world.clock.advance(400);
    const first = world.operatorWrites.slice(before).filter((write) => write === 'patch pods').length;
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThanOrEqual(20);
    await world.clock.advance(MINUTE);
    for (const { metadata } of await podsOf(world, 'web')) {
      const { 'spotalis.io/slot': slot, 'spotalis.io/capacity': capacity } = metadata?.annotations ?? {};
      expect(capacity).toBe(Number(slot) <= 20 ? 'on-demand' : 'spot');
      expect(metadata?.annotations?.['controller.kubernetes.io/pod-deletion-cost']).toBe(`-${slot}`);
    }
    expect(await slots(world)).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
    expect(world.evictions).toEqual([]);
    const after = world.operatorWrites.length;
    await world.clock.advance(10 * MINUTE);
    expect(world.operatorWrites.slice(after).filter((write) => !write.endsWith('leases'))).toEqual([]);
  });
});

describe('rollouts', () => {
  test('case 37: a rolling update ends exact without one eviction', async () => {
    const world = await startWorld();
    await deploy(world, 10);
    const template = { metadata: { annotations: { version: '2' } } };
    await world.api.patch(resources.deployments, 'web', { type: 'merge', body: { spec: { template } } }, inShop);
    await world.until('all pods are new', async () => {
      const pods = await podsOf(world, 'web');
      return pods.length === 10 && pods.every((pod) => pod.metadata?.annotations?.['version'] === '2');
    });
    await untilSides(world, 'web', 7, 3);
    await world.clock.advance(5 * MINUTE);
    expect(world.evictions).toEqual([]);
  });
});

describe('StatefulSets', () => {
  test('case 64: case 65: converge by ordinal, template and generation untouched, ordinals contiguous', async () => {
    const world = await startWorld();
    await world.api.create(
      resources.statefulSets,
      statefulSetObject({ name: 'db', replicas: 4, annotations: policy(0, 0) }),
      inShop,
    );
    await untilReady(world, 'db', 4);
    const before = await world.api.get<StatefulSet>(resources.statefulSets, 'db', inShop);
    const body = { metadata: { annotations: policy(50, 1) } };
    await world.api.patch(resources.statefulSets, 'db', { type: 'merge', body }, inShop);
    await untilSides(world, 'db', 2, 2);
    await world.clock.advance(5 * MINUTE);
    expect(world.evictions).toHaveLength(2);
    const names = (await podsOf(world, 'db')).map((pod) => pod.metadata?.name ?? '').sort();
    expect(names).toEqual(['db-0', 'db-1', 'db-2', 'db-3']);
    const after = await world.api.get<StatefulSet>(resources.statefulSets, 'db', inShop);
    expect(after.spec).toEqual(before.spec);
    expect(after.metadata?.generation).toBe(before.metadata?.generation);
  });
});
