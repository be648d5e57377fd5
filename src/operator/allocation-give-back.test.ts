/** What a pod gave up for another goes back when it leaves, so that there is room for what comes in its place. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { resources } from '../api/resources.ts';
import { type AllocatedWorldOptions, createPods, requestOf, startAllocatedWorld } from './testing/allocated-world.ts';

const inShop = { namespace: 'shop' };

/** A node of 2000m on which one pod has three times what it asked for, at the cost of the other. */
async function lentWorld(hasBudget = false, options: AllocatedWorldOptions = {}) {
  const world = await startAllocatedWorld(options);
  const spec = { minAvailable: 1, selector: { matchLabels: { app: 'busy' } } };
  if (hasBudget) await world.api.create(resources.podDisruptionBudgets, { metadata: { name: 'busy' }, spec }, inShop);
  await createPods(world.api, [
    { name: 'busy', cpu: '1200m', request: '400m', annotations: { 'mbcas.io/workload-type': 'latency' } },
    { name: 'payer', cpu: '20m', request: '1400m' },
  ]);
  await world.until('the busy one has what it needs', async () => (await world.request('busy')) > 1100, 300_000);
  expect((await world.request('busy')) + (await world.request('payer'))).toBeLessThanOrEqual(1900);
  return world;
}

test('the one that paid is replaced: the next one finds the room that its user asks for', async () => {
  const world = await lentWorld();
  await world.api.delete(resources.pods, 'payer', { ...inShop, gracePeriodSeconds: 0 });
  await createPods(world.api, [{ name: 'next', cpu: '20m', request: '1400m' }]);
  const isRunning = async () => (await world.pod('next')).status?.phase === 'Running';
  await world.until('the next one runs', isRunning, 60_000);
  // It pays in turn once it has started; the node looks no fuller than before.
  await world.until('the busy one has it again', async () => (await world.request('busy')) > 1100, 300_000);
  expect((await world.request('busy')) + (await world.request('next'))).toBeLessThanOrEqual(1800);
});

test.each<[string, AllocatedWorldOptions]>([
  ['requests', {}],
  ['all that is free', { env: { STOWAGE_ALLOCATION_SURPLUS_SHARE: '1' } }],
  ['limits', { allocation: '  apply: limits', env: { STOWAGE_ALLOCATION_APPLY: 'limits' } }],
])('the one that paid opts out on a full node: it gets back what it came with (%s)', async (_name, options) => {
  const world = await lentWorld(false, options);
  const labels = { 'mbcas.io/managed': 'false' };
  await world.api.patch(resources.pods, 'payer', { type: 'merge', body: { metadata: { labels } } }, inShop);
  await world.until('it has it back', async () => (await world.request('payer')) === 1400, 120_000);
  expect(await world.request('busy')).toBeLessThanOrEqual(600);
  const sent = world.resizes();
  await world.clock.advance(60_000);
  expect(world.resizes()).toBe(sent);
});

test('integration 6: one that is alone and may not be disrupted lends in turn what it was lent', async () => {
  const world = await lentWorld(true);
  for (const [name, cpu] of [
    ['busy', '20m'],
    ['payer', '1300m'],
  ] as const) {
    const body = { metadata: { annotations: { 'stowage.test/cpu': cpu } } };
    await world.api.patch(resources.pods, name, { type: 'merge', body }, inShop);
  }
  await world.until('it has it back', async () => (await world.request('payer')) >= 1300, 180_000);
  expect(await world.request('busy')).toBeGreaterThanOrEqual(400);
});

test('for any pods that come, go and opt out: in the end all that fit by what they came with run, and nothing is left to do', async () => {
  const step = fc.record({
    act: fc.constantFrom('come' as const, 'come' as const, 'go' as const, 'opt out' as const),
    which: fc.nat(9),
    request: fc.integer({ min: 50, max: 900 }),
    load: fc.integer({ min: 0, max: 1800 }),
    seconds: fc.integer({ min: 5, max: 120 }),
  });
  let given = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12 }), async (steps) => {
      const world = await startAllocatedWorld();
      const came = new Map<string, number>();
      const out = new Set<string>();
      for (const [index, { act, which, request, load, seconds }] of steps.entries()) {
        const name = [...came.keys()][which % Math.max(1, came.size)];
        if (act === 'come' || name === undefined) {
          came.set(`p${index}`, request);
          await createPods(world.api, [{ name: `p${index}`, cpu: `${load}m`, request: `${request}m` }]);
        } else if (act === 'go') {
          came.delete(name);
          await world.api.delete(resources.pods, name, { ...inShop, gracePeriodSeconds: 0 });
        } else {
          out.add(name);
          const body = { metadata: { labels: { 'mbcas.io/managed': 'false' } } };
          await world.api.patch(resources.pods, name, { type: 'merge', body }, inShop);
        }
        await world.clock.advance(seconds * 1000);
      }
      await world.clock.advance(300_000);
      const pods = await Promise.all(
        [...came].map(async ([name, asked]) => ({ name, asked, pod: await world.pod(name) })),
      );
      const placed = pods.filter(({ pod }) => pod.spec?.nodeName !== undefined);
      const asked = placed.reduce((sum, each) => sum + each.asked, 0);
      const has = placed.reduce((sum, { pod }) => sum + requestOf(pod), 0);
      if (placed.some((each) => requestOf(each.pod) > each.asked)) given++;
      expect(has).toBeLessThan(asked + 10);
      for (const each of placed) if (out.has(each.name)) expect(requestOf(each.pod)).toBe(each.asked);
      for (const each of pods) if (!placed.includes(each)) expect(asked + each.asked).toBeGreaterThan(1990);
      const sent = world.resizes();
      await world.clock.advance(60_000);
      expect(world.resizes()).toBe(sent);
      await world.stop();
    }),
    { numRuns: 15 },
  );
  expect(given).toBeGreaterThan(2);
});
