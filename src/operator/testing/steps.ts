/** Steps that tests of the operator on the embedded cluster have in common. */
import { onTestFinished } from 'vitest';
import type { Event, Pod } from '../../api/core.ts';
import { resources } from '../../api/resources.ts';
import {
  createEmbeddedWorld,
  deploymentObject,
  type EmbeddedWorld,
  namespaceObject,
  type WorldOptions,
} from './embedded-world.ts';

export const inShop = { namespace: 'shop' };
export const MINUTE = 60_000;

export function policy(spotPercentage: number, minOnDemand = 1): Record<string, string> {
  return {
    'spotalis.io/spot-percentage': String(spotPercentage),
    'spotalis.io/min-on-demand': String(minOnDemand),
  };
}

/** A world with the namespace `shop` and one replica of the operator; stopped when the test ends. */
export async function startWorld(options: WorldOptions = {}): Promise<EmbeddedWorld> {
  const world = await createEmbeddedWorld(options);
  onTestFinished(() => world.stop());
  await world.api.create(resources.namespaces, namespaceObject('shop'));
  await world.startOperator();
  return world;
}

export async function untilReady(world: EmbeddedWorld, app: string, replicas: number): Promise<void> {
  await world.until(`${replicas} pods of ${app} are ready`, async () => {
    const { spot, 'on-demand': onDemand, pending } = await world.sides('shop', app);
    return spot + onDemand === replicas && pending === 0;
  });
}

export async function untilSides(world: EmbeddedWorld, app: string, spot: number, onDemand: number): Promise<void> {
  await world.until(`${app} is at ${spot}/${onDemand}`, async () => {
    const sides = await world.sides('shop', app);
    return sides.spot === spot && sides['on-demand'] === onDemand && sides.pending === 0;
  });
}

/** Creates the Deployment and waits until all its pods are ready. */
export async function deploy(
  world: EmbeddedWorld,
  replicas: number,
  annotations = policy(70),
  name = 'web',
): Promise<void> {
  await world.api.create(resources.deployments, deploymentObject({ name, replicas, annotations }), inShop);
  await untilReady(world, name, replicas);
}

export async function annotate(
  world: EmbeddedWorld,
  annotations: Record<string, string | null>,
  name = 'web',
): Promise<void> {
  const body = { metadata: { annotations } };
  await world.api.patch(resources.deployments, name, { type: 'merge', body }, inShop);
}

export async function patchDeployment(world: EmbeddedWorld, spec: object, name = 'web'): Promise<void> {
  await world.api.patch(resources.deployments, name, { type: 'merge', body: { spec } }, inShop);
}

export async function podsOf(world: EmbeddedWorld, app: string): Promise<Pod[]> {
  const { items } = await world.api.list(resources.pods, inShop);
  return items.filter((pod) => pod.metadata?.labels?.['app'] === app);
}

/** Reasons of the events on workloads, not on pods. */
export async function eventReasons(world: EmbeddedWorld): Promise<string[]> {
  const { items } = await world.api.list<Event>(resources.events, inShop);
  return items.flatMap(({ regarding, reason }) => (regarding?.kind === 'Pod' ? [] : (reason ?? [])));
}

/** Waits until `replicas` pods of the app carry this version and no other pod is left. */
export async function untilVersion(
  world: EmbeddedWorld,
  app: string,
  version: string,
  replicas: number,
): Promise<void> {
  await world.until(`all ${replicas} pods of ${app} are of version ${version}`, async () => {
    const pods = await podsOf(world, app);
    return pods.length === replicas && pods.every((pod) => pod.metadata?.annotations?.['version'] === version);
  });
}

/** The template of another version of a workload; `behaviour` is that of the simulated containers. */
export function versionTemplate(version: string, behaviour: Readonly<Record<string, string>> = {}): object {
  return { metadata: { annotations: { version, ...behaviour } } };
}

/** What keeps the workload's next move from being made, or undefined where nothing does. */
export function firstBlock(world: EmbeddedWorld, kind: string, name: string): string | undefined {
  return world.operator().explain({ kind, ...inShop, name })?.decisions[0]?.blocks[0]?.reason;
}
