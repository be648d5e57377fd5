/** Spot comes and goes: fallback, return, storms, on the embedded cluster with an autoscaler, in virtual time. */
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Deployment, Event, KubeObject, Pod, StatefulSet } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import type { NodePool } from '../cluster/autoscaler/node-pool.ts';
import { loadConfig } from '../config/load.ts';
import {
  createEmbeddedWorld,
  type EmbeddedWorld,
  namespaceObject,
  type WorldOptions,
} from './testing/embedded-world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const GIB = 1024 ** 3;
const inShop = { namespace: 'shop' };

function pool(name: string, side: NodePool['class'], changes: Partial<NodePool> = {}): NodePool {
  return {
    name,
    class: side,
    zones: ['a', 'b', 'c'],
    instanceType: 'm5.large',
    cpuMillis: 2000,
    memoryBytes: 8 * GIB,
    pricePerHour: side === 'spot' ? 0.03 : 0.1,
    ...changes,
  };
}

const bothPools = [pool('spot', 'spot'), pool('on-demand', 'on-demand')];

interface Fields {
  readonly name?: string;
  readonly replicas: number;
  readonly percentage: number;
  readonly floor?: number;
  readonly annotations?: Readonly<Record<string, string>>;
}

function metadataOf({ name = 'web', percentage, floor = 1, annotations }: Fields) {
  return {
    name,
    namespace: 'shop',
    labels: { 'spotalis.io/enabled': 'true' },
    annotations: {
      'spotalis.io/spot-percentage': String(percentage),
      'spotalis.io/min-on-demand': String(floor),
      ...annotations,
    },
  };
}

/** Two pods fill a node, so that a pod needs a node of its own side soon. */
const templateOf = (name: string) => ({
  metadata: { labels: { app: name } },
  spec: { containers: [{ name: 'app', image: 'app:1', resources: { requests: { cpu: '800m', memory: '64Mi' } } }] },
});

const deployment = (fields: Fields): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: metadataOf(fields),
  spec: {
    replicas: fields.replicas,
    selector: { matchLabels: { app: fields.name ?? 'web' } },
    template: templateOf(fields.name ?? 'web'),
  },
});

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

async function start(options: WorldOptions = {}): Promise<EmbeddedWorld> {
  const world = await createEmbeddedWorld({ spotNodes: 0, onDemandNodes: 0, pools: bothPools, ...options });
  onTestFinished(() => world.stop());
  await world.api.create(resources.namespaces, namespaceObject('shop'));
  await world.startOperator();
  return world;
}

const create = (world: EmbeddedWorld, object: Deployment | StatefulSet) =>
  world.api.create<KubeObject>(
    object.kind === 'Deployment' ? resources.deployments : resources.statefulSets,
    object,
    inShop,
  );

/** As the world's own `until`, in steps fit for hours. */
async function until(
  world: EmbeddedWorld,
  what: string,
  done: () => Promise<boolean> | boolean,
  limit: number,
): Promise<void> {
  for (let passed = 0; passed < limit; passed += 5_000) {
    if (await done()) return;
    await world.clock.advance(5_000);
  }
  throw new Error(`Not within ${limit / MINUTE} minutes of virtual time: ${what}`);
}

async function untilSides(
  world: EmbeddedWorld,
  spot: number,
  onDemand: number,
  limit = HOUR,
  app = 'web',
): Promise<void> {
  await until(
    world,
    `${app} is at ${spot}/${onDemand}`,
    async () => {
      const sides = await world.sides('shop', app);
      return sides.spot === spot && sides['on-demand'] === onDemand && sides.pending === 0;
    },
    limit,
  );
}

async function reasons(world: EmbeddedWorld): Promise<Map<string, number>> {
  const { items } = await world.api.list<Event>(resources.events, inShop);
  const counts = new Map<string, number>();
  for (const { regarding, reason = '' } of items) {
    if (regarding?.kind !== 'Pod') counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return counts;
}

async function covers(world: EmbeddedWorld): Promise<number> {
  const { items } = await world.api.list<Pod>(resources.pods, inShop);
  return items.filter(({ metadata }) => metadata?.annotations?.['spotalis.io/fallback'] === 'true').length;
}

const setSpot = (world: EmbeddedWorld, isAvailable: boolean): void =>
  world.cluster.autoscaler.setPoolAvailability('spot', isAvailable);

const scale = (world: EmbeddedWorld, replicas: number) =>
  world.api.patch(resources.deployments, 'web', { type: 'merge', body: { spec: { replicas } } }, inShop);

/** Without notice, as Google's and Azure's spot machines may go. */
async function loseSpotNodes(world: EmbeddedWorld): Promise<void> {
  const names = world.cluster.autoscaler.nodesOf('spot');
  await Promise.race([
    Promise.all(names.map((name) => world.cluster.autoscaler.interrupt(name))),
    world.clock.advance(3 * MINUTE),
  ]);
}

function explained(world: EmbeddedWorld, kind = 'Deployment', name = 'web') {
  const explanation = world.operator().explain({ kind, namespace: 'shop', name });
  if (explanation === undefined) throw new Error(`${name} is not known`);
  return explanation;
}

/** What the operator did, by its journal. */
function deedsOf(world: EmbeddedWorld, kind: string, name: string): { fallbacks: number; returns: number } {
  const done = (world.operator().explain({ kind, namespace: 'shop', name })?.journal ?? []).filter(
    (entry) => entry.kind === 'done',
  );
  const count = (reason: string): number => done.filter((entry) => entry.reason === reason).length;
  return { fallbacks: count('FallbackToOnDemand'), returns: count('ReturnedToSpot') };
}

const deeds = (world: EmbeddedWorld) => deedsOf(world, 'Deployment', 'web');

describe('bug 8: spot is away for 20 minutes', () => {
  test('hazard H5: pods that wait five minutes are recreated on on-demand; hazard H6: they return one an hour, never more moves than fallbacks', async () => {
    const world = await start();
    setSpot(world, false);
    await create(world, deployment({ replicas: 5, percentage: 60 }));
    await world.clock.advance(4.5 * MINUTE);
    expect(await world.sides('shop', 'web')).toEqual({ spot: 0, 'on-demand': 2, pending: 3 });
    expect(world.evictions).toEqual([]);
    await untilSides(world, 0, 5, 5 * MINUTE);
    expect(world.evictions).toHaveLength(3);
    expect(await covers(world)).toBe(3);
    await world.clock.advance(10 * MINUTE);
    setSpot(world, true);
    const before = world.evictions.length;
    let lowest = 5;
    const returnedAt: number[] = [];
    await until(
      world,
      'all are back',
      async () => {
        const { spot, 'on-demand': onDemand } = await world.sides('shop', 'web');
        lowest = Math.min(lowest, spot + onDemand);
        while (returnedAt.length < world.evictions.length - before) returnedAt.push(world.clock.now());
        return spot === 3 && onDemand === 2;
      },
      6 * HOUR,
    );
    expect(world.evictions.length - before).toBe(3);
    expect(lowest).toBe(4);
    for (const [index, at] of returnedAt.entries()) {
      if (index > 0) expect(at - (returnedAt[index - 1] ?? 0)).toBeGreaterThanOrEqual(HOUR - 5_000);
    }
    await world.clock.advance(3 * HOUR);
    expect(world.evictions.length - before).toBe(3);
    expect(await covers(world)).toBe(0);
    const { fallbacks, returns } = deeds(world);
    // One return was the probe that found spot still away.
    expect(returns).toBe(fallbacks);
    expect(world.evictions).toHaveLength(fallbacks + returns);
    expect((await reasons(world)).get('FallbackToOnDemand')).toBe(1);
  });

  test('pods made while spot is closed do not wait: on-demand covers at once', async () => {
    const world = await start();
    setSpot(world, false);
    await create(world, deployment({ replicas: 2, percentage: 50, floor: 0 }));
    await untilSides(world, 0, 2, 10 * MINUTE);
    await scale(world, 4);
    await untilSides(world, 0, 4, 2 * MINUTE);
    expect(deeds(world)).toEqual({ fallbacks: 1, returns: 0 });
    expect(explained(world).plan.spot.covered).toBe(2);
    setSpot(world, true);
    await untilSides(world, 2, 2, 6 * HOUR);
  });

  test('a scale-down takes cover away before anything else has to move', async () => {
    const world = await start();
    setSpot(world, false);
    await create(world, deployment({ replicas: 6, percentage: 50 }));
    await untilSides(world, 0, 6, 10 * MINUTE);
    await scale(world, 2);
    setSpot(world, true);
    await untilSides(world, 1, 1, 3 * HOUR);
    expect(deeds(world).returns).toBeLessThanOrEqual(2);
  });

  test('bug 9: at placement.fallback.returnPerWindow 2, two return in each disruption window and none outside', async () => {
    const world = await start({ config: 'placement:\n  fallback:\n    returnPerWindow: 2' });
    const annotations = { 'spotalis.io/disruption-schedule': '0 */2 * * *', 'spotalis.io/disruption-duration': '30m' };
    setSpot(world, false);
    await create(world, deployment({ replicas: 8, percentage: 75, annotations }));
    await untilSides(world, 0, 8, 10 * MINUTE);
    setSpot(world, true);
    // It is soon after noon: the windows to come are those of 14, 16, 18 and 20 hours.
    await world.clock.advance(31 * MINUTE - (world.clock.now() % HOUR));
    const perWindow: number[] = [];
    let returned = deeds(world).returns;
    for (let window = 0; window < 4; window++) {
      await world.clock.advance(88 * MINUTE);
      expect(deeds(world).returns).toBe(returned);
      await world.clock.advance(32 * MINUTE);
      perWindow.push(deeds(world).returns - returned);
      returned = deeds(world).returns;
    }
    expect(Math.max(...perWindow)).toBe(2);
    expect(await world.sides('shop', 'web')).toEqual({ spot: 6, 'on-demand': 2, pending: 0 });
  });

  test('bug 38: recreating the pod is what unsticks it; a rollout in the middle of the outage ends as well', async () => {
    const world = await start();
    await create(world, deployment({ replicas: 4, percentage: 50 }));
    await untilSides(world, 2, 2, 10 * MINUTE);
    setSpot(world, false);
    // The surge pod of the new revision goes where the first old pod left, so only what has no spot node left has to wait.
    await loseSpotNodes(world);
    const body = { spec: { template: { metadata: { annotations: { revision: '2' } } } } };
    await world.api.patch(resources.deployments, 'web', { type: 'merge', body }, inShop);
    await untilSides(world, 0, 4, 40 * MINUTE);
    setSpot(world, true);
    await untilSides(world, 2, 2, 6 * HOUR);
    const { fallbacks, returns } = deeds(world);
    expect(world.evictions.length).toBe(fallbacks + returns);
  });

  test('hazard H28: a new leader in the middle of the outage does not start over', async () => {
    const world = await start();
    setSpot(world, false);
    await create(world, deployment({ replicas: 4, percentage: 50 }));
    await untilSides(world, 0, 4, 10 * MINUTE);
    const before = world.evictions.length;
    world.cutOff('test_1');
    await world.startOperator('test_2');
    await world.clock.advance(MINUTE);
    // The cover that runs says that spot was closed a moment ago.
    expect(world.evictions.length).toBe(before);
    await scale(world, 6);
    await untilSides(world, 0, 6, 2 * MINUTE);
    setSpot(world, true);
    await untilSides(world, 3, 3, 8 * HOUR);
  });

  test('nothing is recreated in read-only mode; what would be is told', async () => {
    const world = await start();
    setSpot(world, false);
    await create(world, deployment({ replicas: 4, percentage: 50 }));
    await world.clock.advance(MINUTE);
    const { config } = loadConfig({ text: 'operator:\n  readOnlyMode: true', fileName: 'test.yaml', env: {} });
    world.operator().applyConfig(config);
    await world.clock.advance(20 * MINUTE);
    expect(world.evictions).toEqual([]);
    expect((await reasons(world)).get('WouldEvict')).toBe(1);
  });
});

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

  test('with neither side to be had nothing is moved to and fro', async () => {
    const world = await start();
    setSpot(world, false);
    world.cluster.autoscaler.setPoolAvailability('on-demand', false);
    await create(world, deployment({ replicas: 4, percentage: 50, floor: 0 }));
    await world.clock.advance(6 * HOUR);
    // Each waiting pod was given its chance on on-demand once, and stays there.
    expect(world.evictions).toHaveLength(2);
    setSpot(world, true);
    world.cluster.autoscaler.setPoolAvailability('on-demand', true);
    await untilSides(world, 2, 2, 8 * HOUR);
  });
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

describe('placement.fallback.maxPercent', () => {
  test('on-demand covers for no more than that; the others wait and are told', async () => {
    const world = await start({ config: 'placement:\n  fallback:\n    maxPercent: 50' });
    setSpot(world, false);
    await create(world, deployment({ replicas: 5, percentage: 80, floor: 0 }));
    await world.clock.advance(30 * MINUTE);
    const { 'on-demand': onDemand, pending } = await world.sides('shop', 'web');
    expect({ onDemand, pending }).toEqual({ onDemand: 3, pending: 2 });
    expect((await reasons(world)).get('FallbackShare')).toBeGreaterThanOrEqual(1);
    setSpot(world, true);
    await untilSides(world, 4, 1, 6 * HOUR);
  });
});
