/** Pods that are to have more than their nodes can give: evicted one at a time, where the policy allows it. */
import { describe, expect, test } from 'vitest';
import { resources } from '../api/resources.ts';
import type { EmbeddedWorld } from './testing/embedded-world.ts';
import { createPolicy, deployLoaded, requestsOf, sizedPods, startSizedWorld, statusOf } from './testing/sized-world.ts';
import { inShop, MINUTE, untilReady } from './testing/steps.ts';

/** Three nodes of 16 cores, and nobody who adds one. */
const start = (): Promise<EmbeddedWorld> =>
  startSizedWorld({
    onDemandNodes: 3,
    spotNodes: 0,
    rightsizing: '  deferredTimeout: 1m',
    config: 'controllers: { nodeClassifier: { profiles: [aks] } }',
  });

const nodesOf = async (world: EmbeddedWorld): Promise<string[]> =>
  (await sizedPods(world)).map(({ spec }) => spec?.nodeName ?? '');

/** Takes most of these nodes. */
async function fill(world: EmbeddedWorld, nodes: readonly string[]): Promise<void> {
  for (const [index, nodeName] of nodes.entries()) {
    const container = { name: 'app', image: 'app:1', resources: { requests: { cpu: '15300m', memory: '64Mi' } } };
    const metadata = { name: `filler-${index}`, namespace: 'shop' };
    const spec = { nodeName, containers: [container] };
    await world.api.create(resources.pods, { apiVersion: 'v1', kind: 'Pod', metadata, spec }, inShop);
  }
}

async function grow(cramped: number, updates: Record<string, unknown>): Promise<EmbeddedWorld> {
  const world = await start();
  await deployLoaded(world, { replicas: 2, cpu: '700m', memory: '420Mi' });
  await untilReady(world, 'web', 2);
  await fill(world, (await nodesOf(world)).slice(0, cramped));
  await createPolicy(world, { mode: 'Auto', updates });
  return world;
}
const enough = async (world: EmbeddedWorld): Promise<number> =>
  (await requestsOf(world)).filter(({ cpu }) => cpu === '840m').length;
const evicting = { allowRecreate: true, evictToResize: true };

describe('a node without room for the larger pod', () => {
  test.each([1, 2])('%i of two pods go where there is room, after a while, one at a time', async (cramped) => {
    const world = await grow(cramped, evicting);
    await world.until(
      'the reason is told',
      async () => cramped === 1 || (await statusOf(world))?.reason === 'NodeHasNoRoom',
    );
    await world.clock.advance(30_000);
    expect(world.evictions).toEqual([]);
    expect(await enough(world)).toBe(2 - cramped);
    await world.until('both have enough', async () => (await enough(world)) === 2, 10 * MINUTE);
    await untilReady(world, 'web', 2);
    expect(world.evictions).toHaveLength(cramped);
    await world.until('applied', async () => (await statusOf(world))?.status === 'Applied');
    expect((await world.api.get(resources.deployments, 'web', inShop)).metadata?.generation).toBe(1);
    await world.clock.advance(5 * MINUTE);
    expect(world.evictions).toHaveLength(cramped);
  });

  test.each([
    ['evictions are not allowed', {}],
    ['only a new template is', { allowRecreate: true }],
  ])('waits where %s', async (_, updates) => {
    const world = await grow(1, updates);
    await world.until('told', async () => (await statusOf(world))?.reason === 'NodeHasNoRoom', 5 * MINUTE);
    await world.clock.advance(5 * MINUTE);
    expect(world.evictions).toEqual([]);
    expect(await enough(world)).toBe(1);
    expect(await statusOf(world)).toMatchObject({ status: 'Pending', reason: 'NodeHasNoRoom' });
  });

  test('nobody is evicted where no node has room for the replacement', async () => {
    const world = await start();
    await deployLoaded(world, { replicas: 2, cpu: '700m', memory: '420Mi' });
    await untilReady(world, 'web', 2);
    const { items } = await world.api.list(resources.nodes);
    await fill(
      world,
      items.map(({ metadata }) => metadata?.name ?? ''),
    );
    await createPolicy(world, { mode: 'Auto', updates: evicting });
    await world.until('told', async () => (await statusOf(world))?.reason === 'NodeHasNoRoom', 5 * MINUTE);
    await world.clock.advance(10 * MINUTE);
    expect(world.evictions).toEqual([]);
    // Nothing is promised to new pods either.
    const { metadata } = await world.api.get(resources.deployments, 'web', inShop);
    expect(metadata?.annotations?.['optipod.io/applied-sizes']).toBeUndefined();
  });
});
