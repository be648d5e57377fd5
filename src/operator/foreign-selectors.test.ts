/** Others add node selectors to new pods before the operator's webhook sees them, as RuntimeClasses, namespaces and policies do. */
import { expect, test } from 'vitest';
import { resources } from '../api/resources.ts';
import type { EmbeddedWorld } from './testing/embedded-world.ts';
import { patchNewPods } from './testing/patch-new-pods.ts';
import { annotate, deploy, eventReasons, firstBlock, MINUTE, policy, startWorld } from './testing/steps.ts';

/** From now on each new pod gets this node selector. */
const addToPods = (world: EmbeddedWorld, nodeSelector: Readonly<Record<string, string>>): Promise<void> =>
  patchNewPods(world, { op: 'add', path: '/spec/nodeSelector', value: nodeSelector });

test('pods that they pin to a side stay there, whatever is asked for: the next ones would be pinned as well', async () => {
  const world = await startWorld();
  await addToPods(world, { 'karpenter.sh/capacity-type': 'on-demand' });
  await deploy(world, 4, policy(100, 0));
  expect(await world.sides('shop', 'web')).toMatchObject({ 'on-demand': 4 });
  await world.clock.advance(60 * MINUTE);
  expect(world.evictions).toEqual([]);
  expect(await eventReasons(world)).toContain('ConflictingPlacement');
});

test('pods stay where the other side has no node with what they ask for besides', async () => {
  const label = (side: string) => `{ matchLabels: { karpenter.sh/capacity-type: ${side} } }`;
  const labels = `spotLabels: [${label('spot')}], onDemandLabels: [${label('on-demand')}]`;
  const world = await startWorld({ config: `controllers: { nodeClassifier: { ${labels} } }` });
  const body = { metadata: { labels: { runtime: 'sandboxed' } } };
  const patch = { type: 'merge', body } as const;
  for (const name of ['on-demand-0', 'on-demand-1']) await world.api.patch(resources.nodes, name, patch);
  await addToPods(world, { runtime: 'sandboxed' });
  await deploy(world, 4, policy(0, 0));
  await annotate(world, policy(50, 0));
  await world.clock.advance(20 * MINUTE);
  expect(world.evictions).toEqual([]);
  expect(firstBlock(world, 'Deployment', 'web')).toBe('NoRoomOnSide');

  await world.api.patch(resources.nodes, 'spot-0', patch);
  await world.until('two have moved', async () => (await world.sides('shop', 'web')).spot === 2);
  expect(world.evictions).toHaveLength(2);
});
