/** ResourceQuotas and many raises at once: what is asked of the API server, and what it never has to refuse. */
import { expect, test } from 'vitest';
import { resources } from '../api/resources.ts';
import { type AllocatedWorld, createPods, startAllocatedWorld } from './testing/allocated-world.ts';
import { wish } from './testing/wish.ts';

const NAMES = Array.from({ length: 10 }, (_, index) => `web-${index}`);

/** Ten pods of 100m on two nodes, and a quota with room for five times as much more. */
async function tenPods(allocation = ''): Promise<AllocatedWorld> {
  const world = await startAllocatedWorld({ nodes: [{}, {}], startsAgents: false, allocation });
  await createPods(
    world.api,
    NAMES.map((name, index) => ({ name, request: '100m', node: `node-${1 + (index % 2)}` })),
  );
  const spec = { hard: { 'requests.cpu': '1500m' } };
  await world.api.create(resources.resourceQuotas, { metadata: { name: 'cpu' }, spec }, { namespace: 'shop' });
  await world.until('the quota counts them', async () => {
    const quota = await world.api.get(resources.resourceQuotas, 'cpu', { namespace: 'shop' });
    return quota.status?.used?.['requests.cpu'] === '1';
  });
  return world;
}

/** What informers list is of all namespaces. */
const quotaReads = ({ server }: AllocatedWorld): number =>
  server.accessLog
    .entries()
    .filter(({ verb, resource, namespace }) => verb === 'list' && resource === 'resourcequotas' && namespace === 'shop')
    .reduce((sum, { count }) => sum + count, 0);

async function requests(world: AllocatedWorld): Promise<number> {
  const all = await Promise.all(NAMES.map((name) => world.request(name)));
  return all.reduce((sum, each) => sum + each, 0);
}

test('integration 2: ten raises at once, room for five: one reading serves them, five are sent, none is refused', async () => {
  const world = await tenPods();
  for (const name of NAMES) await wish(world, name, { request: 200 });
  await world.until('all room is taken', async () => (await requests(world)) === 1500, 10_000);
  await world.clock.advance(60_000);
  expect(await requests(world)).toBe(1500);
  expect(world.resizes()).toBe(5);
  expect(await world.events('CPURefused')).toEqual([]);
  expect(quotaReads(world)).toBeGreaterThan(0);
  expect(quotaReads(world)).toBeLessThanOrEqual(2);
});

test('integration 2: what a guard holds back costs no reading, however often it is looked at', async () => {
  const world = await tenPods('  maxChangesPerMinute: 1');
  for (let second = 0; second < 20; second++) {
    for (const name of NAMES) await wish(world, name, { request: 150 + second });
    await world.clock.advance(1000);
  }
  expect(world.resizes()).toBe(1);
  expect(quotaReads(world)).toBe(1);
});

test('integration 2: what was sent counts although the quota has not been heard of since: the next raises are not refused', async () => {
  const world = await tenPods();
  const { faults } = world.cluster.server;
  const quotas = { verbs: ['watch'], resources: ['resourcequotas'] };
  // From the next connection on quotas are heard of late; pods are heard of at once.
  faults.add({ ...quotas, effect: { kind: 'delay-events', millis: 30_000 } });
  const outage = faults.add({ ...quotas, effect: { kind: 'outage' } });
  await world.clock.advance(1000);
  outage.remove();
  await world.clock.advance(10_000);
  const [first, second] = [NAMES.slice(0, 5), NAMES.slice(5)];
  for (const name of first) await wish(world, name, { request: 200 });
  await world.clock.advance(400);
  // They are done and seen: nothing of them is under way any more.
  expect(await requests(world)).toBe(1500);
  for (const name of second) await wish(world, name, { request: 200 });
  await world.clock.advance(400);
  expect(quotaReads(world)).toBe(1);
  expect(world.resizes()).toBe(5);
  expect(await world.events('CPURefused')).toEqual([]);
});
