/** What allocation gave is given back: on opt-out, when an agent or an allocation is gone; and silence of the API is nobody's fault. */
import { expect, test } from 'vitest';
import { sizingKeys } from '../api/annotations-sizing.ts';
import { podAllocations } from '../api/pod-allocation.ts';
import { resources } from '../api/resources.ts';
import { type AllocatedWorld, createPods, startAllocatedWorld } from './testing/allocated-world.ts';
import { wish } from './testing/wish.ts';

const inShop = { namespace: 'shop' };
const QUICK = '  staleAfter: 20s';

async function raised(allocation: string = QUICK, names: readonly string[] = ['web']): Promise<AllocatedWorld> {
  const world = await startAllocatedWorld({ startsAgents: false, allocation });
  await createPods(
    world.api,
    names.map((name) => ({ name })),
  );
  await world.clock.advance(5000);
  for (const name of names) await wish(world, name, { request: 600, limit: 900 });
  for (const name of names)
    await world.until('raised', async () => (await world.allocation(name))?.status?.phase === 'Applied', 10_000);
  return world;
}

const restored = async (world: AllocatedWorld): Promise<boolean> => {
  const { metadata, spec } = await world.pod('web');
  const cpu = spec?.containers[0]?.resources?.requests?.['cpu'];
  return cpu === '200m' && metadata?.annotations?.[sizingKeys.allocationOriginals] === undefined;
};

test('an agent that falls silent: first nothing changes, then the originals are back; an added limit is raised out of the way', async () => {
  const world = await raised();
  const lastHeard = world.clock.now();
  await world.clock.advance(9000);
  expect(await world.request('web')).toBe(600);
  await world.until('restored', () => restored(world), 60_000);
  expect(world.clock.now() - lastHeard).toBeGreaterThanOrEqual(18_000);
  // A limit cannot be removed in place.
  expect((await world.pod('web')).spec?.containers[0]?.resources?.limits).toEqual({ cpu: '2' });
  expect((await world.allocation('web'))?.status).toMatchObject({ phase: 'Pending', reason: 'Stale' });
  expect((await world.events('CPURestored')).map(({ note }) => note)).toEqual([
    expect.stringContaining('limits that cannot be removed in place'),
  ]);
  expect((await world.events('AgentGone')).length).toBe(1);
  const sent = world.resizes();
  await world.clock.advance(60_000);
  expect(world.resizes()).toBe(sent);
  // It comes back, and is believed again.
  await wish(world, 'web', { request: 500 });
  await world.until('resized again', async () => (await world.request('web')) === 500, 20_000);
});

test('a pod that goes while another one is given back is nobody any more: nothing is told of it', async () => {
  const world = await raised(QUICK, ['web', 'worker']);
  const effect = { kind: 'slow', millis: 4000 } as const;
  world.cluster.server.faults.add({ verbs: ['patch'], resources: ['pods/resize'], effect });
  const sent = world.resizes();
  await world.until('asked', () => world.resizes() > sent, 60_000);
  await world.api.delete(resources.pods, 'worker', { ...inShop, gracePeriodSeconds: 0 });
  await world.until('restored', () => restored(world), 60_000);
  await world.clock.advance(60_000);
  expect((await world.events('AgentGone')).map(({ regarding }) => regarding?.name)).toEqual(['web']);
});

test.each(['the pod', 'its namespace'])('allocation bug 20: opting %s out gives back at once', async (what) => {
  const world = await raised('  staleAfter: 10m');
  if (what === 'its namespace') {
    // The pod's own word goes first: it has none any more.
    const own = { metadata: { labels: { 'mbcas.io/managed': null } } };
    await world.api.patch(resources.pods, 'web', { type: 'merge', body: own }, inShop);
  }
  const body = { metadata: { labels: { 'mbcas.io/managed': 'false' } } };
  const patch = { type: 'merge', body } as const;
  if (what === 'the pod') await world.api.patch(resources.pods, 'web', patch, inShop);
  else await world.api.patch(resources.namespaces, 'shop', patch);
  await world.until('restored', () => restored(world), 40_000);
});

test('an allocation that is deleted and not made anew: given back after the same time', async () => {
  const world = await raised();
  const uid = (await world.pod('web')).metadata?.uid ?? '';
  await world.api.delete(podAllocations, uid, inShop);
  await world.clock.advance(10_000);
  expect(await world.request('web')).toBe(600);
  await world.until('restored', () => restored(world), 60_000);
});

test('a pod that somebody else sizes is not given back', async () => {
  const world = await raised();
  const body = { spec: { containers: [{ name: 'app', resources: { requests: { cpu: '450m' } } }] } };
  const options = { ...inShop, subresource: 'resize', fieldManager: 'kubectl-patch' };
  await world.api.patch(resources.pods, 'web', { type: 'strategic', body }, options);
  await world.clock.advance(120_000);
  expect(await world.request('web')).toBe(450);
});

test('while the operator cannot reach the API it counts no silence; cut off for a minute it changes nothing afterwards', async () => {
  const world = await raised();
  world.cutOff('test_1');
  await world.clock.advance(60_000);
  // Another replica takes over: it gives agents their time anew.
  await world.startOperator('test_2');
  const tookOver = world.clock.now();
  await wish(world, 'web', { request: 600, limit: 900 });
  await world.clock.advance(9000);
  expect(await world.request('web')).toBe(600);
  await world.until('restored', () => restored(world), 120_000);
  expect(world.clock.now() - tookOver).toBeGreaterThanOrEqual(18_000);
});

test('a container without a request: none of it while requests move, the least under a ceiling, next to nothing afterwards', async () => {
  const world = await startAllocatedWorld({ startsAgents: false, allocation: '  staleAfter: 10m' });
  const containers = [
    { name: 'app', image: 'app:1', resources: { requests: { cpu: '200m', memory: '64Mi' } } },
    { name: 'helper', image: 'helper:1' },
  ];
  await createPods(world.api, [{ name: 'web', spec: { containers } }]);
  await world.clock.advance(5000);
  const usage = { app: 100, helper: 300 };
  const sizes = async () =>
    (await world.pod('web')).spec?.containers.map(({ resources: { requests, limits } = {} }) => [
      requests?.['cpu'],
      limits?.['cpu'],
    ]);
  const applied = async () => (await world.allocation('web'))?.status?.phase === 'Applied';
  await wish(world, 'web', { request: 500, usage });
  await world.until('raised', async () => (await world.request('web')) === 500 && (await applied()), 20_000);
  expect(await sizes()).toEqual([
    ['500m', undefined],
    [undefined, undefined],
  ]);
  await wish(world, 'web', { request: 400, limit: 440, urgent: true, usage });
  await world.until('limited', async () => (await world.request('web')) === 400 && (await applied()), 20_000);
  expect(await sizes()).toEqual([
    ['390m', '390m'],
    ['10m', '50m'],
  ]);
  const body = { metadata: { labels: { 'mbcas.io/managed': 'false' } } };
  await world.api.patch(resources.pods, 'web', { type: 'merge', body }, inShop);
  await world.until('given back', async () => (await world.request('web')) === 201, 40_000);
  await world.clock.advance(60_000);
  expect(await sizes()).toEqual([
    ['200m', '2'],
    ['1m', '2'],
  ]);
});
