/** What an agent wished for long ago says nothing of now: it is not obeyed because somebody else came back. */
import { expect, test } from 'vitest';
import { resources } from '../api/resources.ts';
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

test('a pod that takes part again is not given what it was to have before its user opted it out', async () => {
  const world = await startAllocatedWorld();
  await createPods(world.api, [
    { name: 'web', cpu: '700m', request: '100m' },
    { name: 'hog', cpu: '4000m', request: '900m' },
  ]);
  const ceiling = async () => (await world.pod('hog')).spec?.containers[0]?.resources?.limits?.['cpu'];
  const setManaged = (managed: 'true' | 'false') => {
    const body = { metadata: { labels: { 'mbcas.io/managed': managed } } };
    return world.api.patch(resources.pods, 'hog', { type: 'merge', body }, { namespace: 'shop' });
  };
  await world.until('it has a ceiling', async () => /^\d+m$/.test((await ceiling()) ?? ''), 120_000);
  await setManaged('false');
  await world.until('it is given back', async () => (await ceiling()) === '2', 60_000);
  await world.clock.advance(30_000);
  const spec = async () => (await world.allocation('hog'))?.spec;
  expect(await spec()).toMatchObject({ desiredCPURequest: '900m', limitPolicy: 'Keep', originalCPURequest: '900m' });
  const generation = async () => (await world.allocation('hog'))?.metadata?.generation;
  const before = await generation();
  await world.clock.advance(300_000);
  expect(await generation()).toBe(before);
  const sent = world.resizes();
  await setManaged('true');
  await world.clock.advance(1000);
  expect(world.resizes()).toBe(sent);
});
