/** A quota that leaves less than the pods of a workload want: it is shared out among them, once. */
import { expect, test } from 'vitest';
import { resources } from '../api/resources.ts';
import {
  createPolicy,
  deployLoaded,
  requestsOf,
  sizedEvents,
  sizedPods,
  startSizedWorld,
  statusOf,
} from './testing/sized-world.ts';
import { inShop, MINUTE, untilReady } from './testing/steps.ts';

test('what one pod has been given leaves the others no less and no more, however long they take to have it', async () => {
  const world = await startSizedWorld({ rightsizing: '  maxChangesPerMinute: 2' });
  const spec = { hard: { 'requests.cpu': '2400m' } };
  await world.api.create(resources.resourceQuotas, { metadata: { name: 'team' }, spec }, inShop);
  await deployLoaded(world, { replicas: 6, cpu: '900m', memory: '100Mi', requests: { cpu: '100m', memory: '120Mi' } });
  await untilReady(world, 'web', 6);
  await createPolicy(world, { mode: 'Auto' });
  await world.clock.advance(20 * MINUTE);
  expect((await requestsOf(world)).map(({ cpu }) => cpu)).toEqual(Array(6).fill('400m'));
  expect(await statusOf(world)).toMatchObject({ reason: 'QuotaExceeded', recommendations: [{ cpu: '400m' }] });
  const told = (await sizedEvents(world)).filter(({ reason }) => reason === 'RecommendationGenerated');
  expect(told.length).toBeLessThanOrEqual(2);
});

test('two workloads that grow at once are not promised the same room: whichever pod is replaced can be made again', async () => {
  const world = await startSizedWorld({ rightsizing: '  maxChangesPerMinute: 2' });
  const spec = { hard: { 'requests.cpu': '1200m' } };
  await world.api.create(resources.resourceQuotas, { metadata: { name: 'team' }, spec }, inShop);
  const fields = { replicas: 3, cpu: '900m', memory: '100Mi', requests: { cpu: '100m', memory: '120Mi' } };
  const names = ['web', 'api'];
  for (const name of names) await deployLoaded(world, { ...fields, name });
  for (const name of names) await untilReady(world, name, 3);
  await createPolicy(world, { mode: 'Auto' });
  await world.clock.advance(20 * MINUTE);
  const sizes = await Promise.all(names.map((name) => requestsOf(world, name)));
  const cpus = sizes.flat().map(({ cpu }) => Number.parseInt(cpu ?? '', 10));
  const [small, ...others] = new Set(cpus.toSorted((a, b) => a - b));
  expect(small).toBe(100);
  // The first to grow has all that is left but for one pod more, of which a rollout has need.
  expect(others).toEqual([266]);
  const pods = await Promise.all(names.map((name) => sizedPods(world, name)));
  for (const { metadata } of pods.flat()) await world.api.delete(resources.pods, metadata?.name ?? '', inShop);
  await world.clock.advance(5 * MINUTE);
  for (const name of names) await untilReady(world, name, 3);
});

test('a quota that is lowered below what is in force costs no replica: who is replaced begins as its template says', async () => {
  const world = await startSizedWorld();
  const quota = (cpu: string) => ({ spec: { hard: { 'requests.cpu': cpu } } });
  await world.api.create(resources.resourceQuotas, { metadata: { name: 'team' }, ...quota('1000m') }, inShop);
  await deployLoaded(world, { replicas: 2, cpu: '900m', memory: '100Mi', requests: { cpu: '100m', memory: '120Mi' } });
  await untilReady(world, 'web', 2);
  await createPolicy(world, { mode: 'Auto' });
  await world.clock.advance(10 * MINUTE);
  expect((await requestsOf(world)).map(({ cpu }) => cpu)).toEqual(['450m', '450m']);
  await world.api.patch(resources.resourceQuotas, 'team', { type: 'merge', body: quota('700m') }, inShop);
  const [first] = await sizedPods(world);
  await world.api.delete(resources.pods, first?.metadata?.name ?? '', inShop);
  await world.clock.advance(5 * MINUTE);
  await untilReady(world, 'web', 2);
  const sizes = (await requestsOf(world)).map(({ cpu }) => cpu ?? '');
  expect(sizes.toSorted()).toEqual(['100m', '450m']);
});

test('a raise leaves a rollout the room for its first pod, which begins as its template says and has the size of all later', async () => {
  const world = await startSizedWorld();
  const spec = { hard: { 'requests.cpu': '1000m' } };
  await world.api.create(resources.resourceQuotas, { metadata: { name: 'team' }, spec }, inShop);
  await deployLoaded(world, { replicas: 1, cpu: '900m', memory: '100Mi', requests: { cpu: '100m', memory: '120Mi' } });
  await untilReady(world, 'web', 1);
  await createPolicy(world, { mode: 'Auto' });
  await world.clock.advance(10 * MINUTE);
  const [before] = await sizedPods(world);
  expect(before?.spec?.containers[0]?.resources?.requests).toMatchObject({ cpu: '900m' });
  const body = { spec: { template: { metadata: { annotations: { version: '2' } } } } };
  await world.api.patch(resources.deployments, 'web', { type: 'merge', body }, inShop);
  await world.clock.advance(10 * MINUTE);
  const [after, ...others] = await sizedPods(world);
  expect(others).toEqual([]);
  expect(after?.metadata?.annotations).toMatchObject({ version: '2' });
  expect(after?.spec?.containers[0]?.resources?.requests).toMatchObject({ cpu: '900m' });
});

const evicting = { allowInPlaceResize: false, allowRecreate: true, evictToResize: true };
test.each<[string, Record<string, unknown>]>([
  ['in place', {}],
  ['by evictions', evicting],
  ['by new templates', { ...evicting, evictToResize: false }],
])('in a tight namespace no replica is lost and every rollout comes to its end, sized %s', async (_, updates) => {
  const world = await startSizedWorld();
  const spec = { hard: { 'requests.cpu': '1500m' } };
  await world.api.create(resources.resourceQuotas, { metadata: { name: 'team' }, spec }, inShop);
  const replicas = new Map([
    ['a', 1],
    ['b', 2],
    ['c', 3],
    ['d', 5],
  ]);
  const requests = { cpu: '100m', memory: '120Mi' };
  for (const [name, count] of replicas)
    await deployLoaded(world, { name, replicas: count, cpu: '500m', memory: '100Mi', requests });
  for (const [name, count] of replicas) await untilReady(world, name, count);
  await createPolicy(world, { mode: 'Auto', updates });
  for (const name of replicas.keys()) {
    await world.clock.advance(7 * MINUTE);
    const [first] = await sizedPods(world, name);
    await world.api.delete(resources.pods, first?.metadata?.name ?? '', inShop);
  }
  const body = { spec: { template: { metadata: { annotations: { version: '2' } } } } };
  for (const name of replicas.keys())
    await world.api.patch(resources.deployments, name, { type: 'merge', body }, inShop);
  // Whoever was refused for want of room is tried again after a quarter of an hour at the latest.
  await world.clock.advance(45 * MINUTE);
  for (const [name, count] of replicas) {
    await untilReady(world, name, count);
    const versions = (await sizedPods(world, name)).map(({ metadata }) => metadata?.annotations?.['version']);
    expect(versions).toEqual(Array(count).fill('2'));
  }
  expect((await requestsOf(world, 'd')).map(({ cpu }) => cpu)).toEqual(Array(5).fill('160m'));
});
