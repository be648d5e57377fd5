import { describe, expect, onTestFinished, test } from 'vitest';
import type { Deployment, Event, Lease, Pod, PodDisruptionBudget, StatefulSet } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import {
  createEmbeddedWorld,
  deploymentObject,
  type EmbeddedWorld,
  namespaceObject,
  statefulSetObject,
  type WorldOptions,
} from './testing/embedded-world.ts';

const inShop = { namespace: 'shop' };
const MINUTE = 60_000;
const policy = (spotPercentage: number, minOnDemand = 1) => ({
  'spotalis.io/spot-percentage': String(spotPercentage),
  'spotalis.io/min-on-demand': String(minOnDemand),
});

async function start(options: WorldOptions = {}): Promise<EmbeddedWorld> {
  const world = await createEmbeddedWorld(options);
  onTestFinished(() => world.stop());
  await world.api.create(resources.namespaces, namespaceObject('shop'));
  await world.startOperator();
  return world;
}

/** Creates the Deployment `web` and waits until all its pods are ready. */
async function deploy(world: EmbeddedWorld, replicas: number, annotations = policy(70)): Promise<void> {
  await world.api.create(resources.deployments, deploymentObject({ name: 'web', replicas, annotations }), inShop);
  await untilReady(world, 'web', replicas);
}

async function untilReady(world: EmbeddedWorld, app: string, replicas: number): Promise<void> {
  await world.until(`${replicas} pods of ${app} are ready`, async () => {
    const { spot, 'on-demand': onDemand, pending } = await world.sides('shop', app);
    return spot + onDemand === replicas && pending === 0;
  });
}

async function untilSides(world: EmbeddedWorld, app: string, spot: number, onDemand: number): Promise<void> {
  await world.until(`${app} is at ${spot}/${onDemand}`, async () => {
    const sides = await world.sides('shop', app);
    return sides.spot === spot && sides['on-demand'] === onDemand && sides.pending === 0;
  });
}

const annotate = (world: EmbeddedWorld, annotations: Record<string, string | null>) =>
  world.api.patch(resources.deployments, 'web', { type: 'merge', body: { metadata: { annotations } } }, inShop);
const scale = (world: EmbeddedWorld, replicas: number) =>
  world.api.patch(resources.deployments, 'web', { type: 'merge', body: { spec: { replicas } } }, inShop);

async function podsOf(world: EmbeddedWorld, app: string): Promise<Pod[]> {
  const { items } = await world.api.list(resources.pods, inShop);
  return items.filter((pod) => pod.metadata?.labels?.['app'] === app);
}

async function eventReasons(world: EmbeddedWorld): Promise<string[]> {
  const { items } = await world.api.list<Event>(resources.events, inShop);
  return items.flatMap(({ regarding, reason }) => (regarding?.kind === 'Pod' ? [] : (reason ?? [])));
}

describe('a new Deployment', () => {
  test('of 10 at 70 % with floor 1 lands 7/3 without one eviction', async () => {
    const world = await start();
    await deploy(world, 10);
    expect(await world.sides('shop', 'web')).toEqual({ spot: 7, 'on-demand': 3, pending: 0 });
    await world.clock.advance(5 * MINUTE);
    expect(await world.sides('shop', 'web')).toEqual({ spot: 7, 'on-demand': 3, pending: 0 });
    expect(world.evictions).toEqual([]);
  });

  test('a cluster at rest is left at rest: no write but the lease', async () => {
    const world = await start();
    await deploy(world, 10);
    await world.clock.advance(2 * MINUTE);
    const before = world.operatorWrites.length;
    await world.clock.advance(10 * MINUTE);
    const since = world.operatorWrites.slice(before).filter((write) => !write.endsWith('leases'));
    expect(since).toEqual([]);
  });

  test('scaled like an autoscaler 10 -> 30 -> 8 keeps the mix without one eviction', async () => {
    const world = await start();
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
    const world = await start();
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
    const world = await start({ config: 'controllers:\n  workloadTiming:\n    cooldownPeriod: 60s' });
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

  test('case 53: replicas and template are never modified', async () => {
    const world = await start();
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

describe('budgets', () => {
  const budget = (spec: object): PodDisruptionBudget =>
    ({
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'web', namespace: 'shop' },
      spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
    }) as PodDisruptionBudget;

  test('case 69: minAvailable equal to the replicas: no eviction is even asked for, and one event says why', async () => {
    const world = await start();
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
    const world = await start();
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
    const world = await start();
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
    const world = await start();
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
    const world = await start();
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

  test('case 58: read-only: no eviction, no mutation, what would be done is told', async () => {
    const world = await start({ config: 'operator:\n  readOnlyMode: true' });
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
    if ((await world.sides('shop', 'web'))['on-demand'] > 0) {
      expect((await eventReasons(world)).filter((reason) => reason === 'WouldEvict')).toHaveLength(1);
    }
  });
});

describe('repair', () => {
  test('pods admitted while the webhook was down are moved within the usual pace', async () => {
    const world = await start();
    world.setWebhookUp(false);
    await deploy(world, 10);
    const { spot } = await world.sides('shop', 'web');
    world.setWebhookUp(true);
    await untilSides(world, 'web', 7, 3);
    expect((await eventReasons(world)).filter((reason) => reason === 'MissedAdmission')).toHaveLength(1);
    expect(world.evictions).toHaveLength(Math.abs(7 - spot));
    await world.clock.advance(5 * MINUTE);
    expect(world.evictions).toHaveLength(Math.abs(7 - spot));
  });

  test('case 60: only the label, pods on spot: all move to on-demand once, then rest', async () => {
    const world = await start();
    world.setWebhookUp(false);
    await world.api.create(resources.deployments, deploymentObject({ name: 'web', replicas: 4 }), inShop);
    await untilReady(world, 'web', 4);
    const { spot } = await world.sides('shop', 'web');
    world.setWebhookUp(true);
    await untilSides(world, 'web', 0, 4);
    await world.clock.advance(10 * MINUTE);
    expect(world.evictions).toHaveLength(spot);
  });

  test('case 35: a lost spot pod at 7/3 comes back on spot, a lost on-demand pod on on-demand', async () => {
    const world = await start();
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
    const world = await start();
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
    const world = await start();
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
  test('case 64: converge by ordinal, template and generation untouched, ordinals contiguous', async () => {
    const world = await start();
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
    // case 65: the template is the user's.
    expect(after.spec).toEqual(before.spec);
    expect(after.metadata?.generation).toBe(before.metadata?.generation);
  });
});

describe('leadership', () => {
  const lease = (world: EmbeddedWorld) =>
    world.api.get<Lease>(resources.leases, 'spotalis-controller-leader', { namespace: 'spotalis-system' });

  test('case 75: of four replicas one holds the lease; when it goes another takes over and the work goes on', async () => {
    const world = await start();
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
    const world = await start();
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
    const world = await start({ config: 'controllers:\n  workloadTiming:\n    cooldownPeriod: 2m' });
    await deploy(world, 4, policy(0, 0));
    await annotate(world, policy(100, 0));
    await world.clock.advance(100_000);
    expect(world.evictions).toEqual([]);
    await world.until('the first eviction', () => world.evictions.length === 1, MINUTE);
  });

  test('the lease is released on stop', async () => {
    const world = await start();
    const stopping = world.operator().stop();
    await world.clock.advance(1_000);
    await stopping;
    await world.operator().ended;
    expect((await lease(world)).spec?.holderIdentity ?? '').toBe('');
  });
});

describe('the API server under stress', () => {
  test('case 71: a throttled eviction waits for Retry-After and is no block by a budget', async () => {
    const world = await start();
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
    const world = await start();
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
    const world = await start();
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

describe('many workloads at once', () => {
  test('the cluster-wide budget holds, and every workload has its turn before one has its second', async () => {
    const world = await start({ config: 'placement:\n  maxConcurrentEvictions: 1' });
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
  const world = await start({ config: 'operator:\n  disruptionWindow:\n    schedule: "0 2 * * *"\n    duration: 1h' });
  await deploy(world, 4, policy(0, 0));
  await annotate(world, policy(50, 0));
  await world.clock.advance(5_000);
  const explanation = world.operator().explain({ kind: 'Deployment', ...inShop, name: 'web' });
  expect(explanation?.plan).toMatchObject({ drift: 2, target: { spot: 2, onDemand: 2 } });
  expect(explanation?.decisions[0]?.blocks[0]?.reason).toBe('OutsideWindow');
  expect(explanation?.journal.at(-1)).toMatchObject({ kind: 'blocked', reason: 'OutsideWindow' });
  expect(() => JSON.stringify(explanation)).not.toThrow();
});
