/** What an agent wished for long ago says nothing of now: it is not obeyed because somebody else came back. */
import { expect, test } from 'vitest';
import { type AllocatedWorld, createPods, startAllocatedWorld } from './testing/allocated-world.ts';
import { wish } from './testing/wish.ts';

const STALE = 40_000;

/** An agent that has raised two pods and is gone since: they have what they had before it. */
async function givenBack(): Promise<AllocatedWorld> {
  const world = await startAllocatedWorld({ startsAgents: false, allocation: `  staleAfter: ${STALE / 1000}s` });
  await createPods(world.api, [{ name: 'web' }, { name: 'worker' }]);
  await world.clock.advance(5000);
  for (const name of ['web', 'worker']) await wish(world, name, { request: 600, limit: 900 });
  const isOf = (request: number) => async () =>
    (await world.request('web')) === request && (await world.request('worker')) === request;
  await world.until('raised', isOf(600), 10_000);
  await world.until('given back', isOf(200), 3 * STALE);
  await world.clock.advance(10_000);
  return world;
}

test('a new leader does not resize for an agent that was gone before it', async () => {
  const world = await givenBack();
  const sent = world.resizes();
  world.cutOff('test_1');
  await world.startOperator('test_2');
  await world.clock.advance(10 * STALE);
  expect(world.resizes()).toBe(sent);
  expect((await world.allocation('web'))?.status).toMatchObject({ phase: 'Pending', reason: 'Stale' });
});

test('neither does the same one after it was out of touch itself', async () => {
  const world = await givenBack();
  const sent = world.resizes();
  const effect = { kind: 'outage' } as const;
  const outage = world.cluster.server.faults.add({ resources: ['podallocations'], effect });
  await world.clock.advance(5000);
  expect(outage.met()).toBeGreaterThan(0);
  outage.remove();
  await world.clock.advance(10 * STALE);
  expect(world.resizes()).toBe(sent);
});

test('an agent that comes back has time to take back what it wished for before', async () => {
  const world = await givenBack();
  const sent = world.resizes();
  await wish(world, 'web', { request: 300 });
  // So long a node full of pods takes: 32 a tick.
  await world.clock.advance(8000);
  await wish(world, 'worker', { request: 200 });
  await world.until('it is obeyed again', async () => (await world.request('web')) === 300, 20_000);
  await world.clock.advance(5000);
  expect(world.resizes()).toBe(sent + 1);
});

test('a wish that waits for a new leader is carried out once its agent was heard of', async () => {
  const world = await startAllocatedWorld({ startsAgents: false });
  await createPods(world.api, [{ name: 'web' }, { name: 'worker' }]);
  await world.clock.advance(5000);
  await wish(world, 'worker', { request: 300 });
  await world.until('obeyed', async () => (await world.request('worker')) === 300, 10_000);
  world.cutOff('test_1');
  await wish(world, 'web', { request: 600 });
  await world.startOperator('test_2');
  await world.clock.advance(40_000);
  expect(await world.request('web')).toBe(200);
  await wish(world, 'worker', { request: 310 });
  await world.until('obeyed', async () => (await world.request('web')) === 600, 5000);
});
