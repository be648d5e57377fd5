/** A shop whose spot pool opens and closes, on the embedded cluster with an autoscaler, in virtual time. */
import { onTestFinished } from 'vitest';
import type { Deployment, Event, KubeObject, StatefulSet } from '../../api/core.ts';
import { resources } from '../../api/resources.ts';
import type { NodePool } from '../../cluster/autoscaler/node-pool.ts';
import { createEmbeddedWorld, type EmbeddedWorld, namespaceObject, type WorldOptions } from './embedded-world.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
const GIB = 1024 ** 3;
export const inShop = { namespace: 'shop' };

export function pool(name: string, side: NodePool['class'], changes: Partial<NodePool> = {}): NodePool {
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

export interface Fields {
  readonly name?: string;
  readonly replicas: number;
  readonly percentage: number;
  readonly floor?: number;
  readonly annotations?: Readonly<Record<string, string>>;
}

export function metadataOf({ name = 'web', percentage, floor = 1, annotations }: Fields) {
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
export const templateOf = (name: string) => ({
  metadata: { labels: { app: name } },
  spec: { containers: [{ name: 'app', image: 'app:1', resources: { requests: { cpu: '800m', memory: '64Mi' } } }] },
});

export const deployment = (fields: Fields): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: metadataOf(fields),
  spec: {
    replicas: fields.replicas,
    selector: { matchLabels: { app: fields.name ?? 'web' } },
    template: templateOf(fields.name ?? 'web'),
  },
});

export async function start(options: WorldOptions = {}): Promise<EmbeddedWorld> {
  const world = await createEmbeddedWorld({ spotNodes: 0, onDemandNodes: 0, pools: bothPools, ...options });
  onTestFinished(() => world.stop());
  await world.api.create(resources.namespaces, namespaceObject('shop'));
  await world.startOperator();
  return world;
}

export const create = (world: EmbeddedWorld, object: Deployment | StatefulSet) =>
  world.api.create<KubeObject>(
    object.kind === 'Deployment' ? resources.deployments : resources.statefulSets,
    object,
    inShop,
  );

/** As the world's own `until`, in steps fit for hours. */
export async function until(
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

export async function untilSides(
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

export async function reasons(world: EmbeddedWorld): Promise<Map<string, number>> {
  const { items } = await world.api.list<Event>(resources.events, inShop);
  const counts = new Map<string, number>();
  for (const { regarding, reason = '' } of items) {
    if (regarding?.kind !== 'Pod') counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return counts;
}

export const setSpot = (world: EmbeddedWorld, isAvailable: boolean): void =>
  world.cluster.autoscaler.setPoolAvailability('spot', isAvailable);

export const scale = (world: EmbeddedWorld, replicas: number) =>
  world.api.patch(resources.deployments, 'web', { type: 'merge', body: { spec: { replicas } } }, inShop);

/** Without notice, as Google's and Azure's spot machines may go. */
export async function loseSpotNodes(world: EmbeddedWorld): Promise<void> {
  const names = world.cluster.autoscaler.nodesOf('spot');
  await Promise.race([
    Promise.all(names.map((name) => world.cluster.autoscaler.interrupt(name))),
    world.clock.advance(3 * MINUTE),
  ]);
}

export function explained(world: EmbeddedWorld, kind = 'Deployment', name = 'web') {
  const explanation = world.operator().explain({ kind, namespace: 'shop', name });
  if (explanation === undefined) throw new Error(`${name} is not known`);
  return explanation;
}

/** What the operator did, by its journal. */
export function deedsOf(world: EmbeddedWorld, kind: string, name: string): { fallbacks: number; returns: number } {
  const done = (world.operator().explain({ kind, namespace: 'shop', name })?.journal ?? []).filter(
    (entry) => entry.kind === 'done',
  );
  const count = (reason: string): number => done.filter((entry) => entry.reason === reason).length;
  return { fallbacks: count('FallbackToOnDemand'), returns: count('ReturnedToSpot') };
}

export const deeds = (world: EmbeddedWorld) => deedsOf(world, 'Deployment', 'web');
