/** Whoever has the agent's token of one node may write PodAllocations there: of pods elsewhere they change nothing. */
import { expect, test } from 'vitest';
import { podAllocations } from '../api/pod-allocation.ts';
import { createPods, startAllocatedWorld } from './testing/allocated-world.ts';
import { wish } from './testing/wish.ts';

test('a PodAllocation by the agent of another node is not obeyed, and says so; without it the own agent is', async () => {
  const world = await startAllocatedWorld({ startsAgents: false, nodes: [{}, {}] });
  await createPods(world.api, [{ name: 'web' }]);
  await world.clock.advance(5000);
  const { metadata, spec } = await world.pod('web');
  const other = world.nodeNames.find((name) => name !== spec?.nodeName) ?? '';
  await wish(world, 'web', { request: 600, limit: 900, nodeName: other });
  await world.until('told', async () => (await world.allocation('web'))?.status?.reason === 'ForeignNode', 10_000);
  await world.clock.advance(60_000);
  expect(world.resizes()).toBe(0);
  const { status } = (await world.allocation('web')) ?? {};
  expect(status?.phase).toBe('Pending');
  const message = `The allocation is of the agent of node ${other}, the pod is on ${spec?.nodeName}: it is not obeyed`;
  expect(status?.conditions?.map((condition) => condition.message)).toContain(message);

  await world.api.delete(podAllocations, metadata?.uid ?? '', { namespace: 'shop' });
  await wish(world, 'web', { request: 600, limit: 900 });
  await world.until('raised', async () => (await world.allocation('web'))?.status?.phase === 'Applied', 30_000);
  expect(await world.request('web')).toBe(600);
});
