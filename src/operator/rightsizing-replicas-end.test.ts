/** Sizes per replica: nodes of a DaemonSet, and the ways back to one size. */
import { describe, expect, test } from 'vitest';
import type { DaemonSet } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import { askAboutDaemons } from './testing/ask-about-daemons.ts';
import {
  annotationOf,
  haveShrunk,
  heat,
  memoryOf,
  own,
  REPLICAS,
  requestsByPod,
  setUpdates,
  startShrunk,
  statefulSet,
} from './testing/replicas.ts';
import { createPolicy, sizedPods, startSizedWorld, statusOf } from './testing/sized-world.ts';
import { inShop, MINUTE } from './testing/steps.ts';

test('on each node of a DaemonSet its own pod: where one is hot it keeps its size, also when it is replaced', async () => {
  const world = await startSizedWorld({ onDemandNodes: 4, spotNodes: 0 });
  await askAboutDaemons(world);
  const { spec, metadata } = statefulSet(1);
  const { template, selector } = spec ?? {};
  const daemonSet = { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata, spec: { selector, template } } as DaemonSet;
  await world.api.create(resources.daemonSets, daemonSet, inShop);
  await world.until('one on each node', async () => (await sizedPods(world, 'db')).length === 4, 5 * MINUTE);
  const byNode = async () => {
    const pods = await sizedPods(world, 'db');
    return new Map(pods.map((pod) => [pod.spec?.nodeName ?? '', pod]));
  };
  const memoryOn = async (node: string) =>
    (await byNode()).get(node)?.spec?.containers[0]?.resources?.requests?.['memory'];
  const nodes = [...(await byNode()).keys()].sort();
  const [hot = '', cold = ''] = nodes;
  await heat(world, (await byNode()).get(hot)?.metadata?.name ?? '', '420Mi');
  await world.clock.advance(20_000);
  await createPolicy(world, { mode: 'Auto', updates: own });
  await world.until(
    'the others have less',
    async () => (await Promise.all(nodes.slice(1).map(memoryOn))).every((memory) => memory === '120Mi'),
    10 * MINUTE,
  );
  await world.clock.advance(2 * MINUTE);
  for (const node of [hot, cold]) {
    await world.api.delete(resources.pods, (await byNode()).get(node)?.metadata?.name ?? '', inShop);
  }
  await world.until('they are back', async () => (await sizedPods(world, 'db')).length === 4, 5 * MINUTE);
  expect(await Promise.all([memoryOn(hot), memoryOn(cold)])).toEqual(['512Mi', '120Mi']);
  const told = /^4 of 4 replicas have sizes of their own/;
  await world.until('told', async () => told.test((await statusOf(world, 'db'))?.replicaSizes ?? ''), MINUTE);
});

describe('a size per replica', () => {
  test('of more than the node has room for: the one pod goes to where there is room, with its size; the others stay', async () => {
    const world = await startShrunk({ ...own, allowRecreate: true, evictToResize: true });
    const before = new Map((await sizedPods(world, 'db')).map(({ metadata }) => [metadata?.name, metadata?.uid]));
    const nodeName =
      (await sizedPods(world, 'db')).find(({ metadata }) => metadata?.name === 'db-2')?.spec?.nodeName ?? '';
    const used = (await sizedPods(world, 'db')).filter(({ spec }) => spec?.nodeName === nodeName).length;
    const requests = { cpu: `${16_000 - used * 120 - 100}m`, memory: '64Mi' };
    const filler = { nodeName, containers: [{ name: 'app', image: 'app:1', resources: { requests } }] };
    const metadata = { name: 'filler', namespace: 'shop' };
    await world.api.create(resources.pods, { apiVersion: 'v1', kind: 'Pod', metadata, spec: filler }, inShop);
    await heat(world, 'db-2', '100Mi', '900m');
    await world.until('it is gone', async () => world.evictions.length > 0, 40 * MINUTE);
    await world.until('it is back', async () => (await sizedPods(world, 'db')).length === REPLICAS, 5 * MINUTE);
    const pods = await sizedPods(world, 'db');
    const moved = pods.filter((pod) => before.get(pod.metadata?.name) !== pod.metadata?.uid);
    expect(moved.map((pod) => pod.metadata?.name)).toEqual(['db-2']);
    expect(moved[0]?.spec?.nodeName).not.toBe(nodeName);
    expect(Number.parseInt((await requestsByPod(world)).get('db-2')?.['cpu'] ?? '', 10)).toBeGreaterThan(300);
  });

  test('where in place is not possible any more, sizes of their own stay as they are, and that is told', async () => {
    const world = await startShrunk({ ...own, allowRecreate: true });
    await setUpdates(world, { allowInPlaceResize: false });
    await world.until(
      'it is told',
      async () => (await statusOf(world, 'db'))?.reason === 'ReplicasNeedInPlace',
      5 * MINUTE,
    );
    expect(await haveShrunk(world)).toBe(true);
    expect((await world.api.get(resources.statefulSets, 'db', inShop)).metadata?.generation).toBe(1);
    await setUpdates(world, { sizePerReplica: false });
    await world.until('back to one size', async () => (await annotationOf(world)) === undefined, 5 * MINUTE);
  });

  test('a size above that of all is not lowered by going back to one size', async () => {
    const world = await startShrunk();
    await heat(world, 'db-2', '100Mi', '900m');
    const cpuOf = async (name: string) => (await requestsByPod(world)).get(name)?.['cpu'] ?? '';
    await world.until('it has more', async () => (await cpuOf('db-2')) !== '120m', 20 * MINUTE);
    await world.clock.advance(MINUTE);
    const had = await cpuOf('db-2');
    await setUpdates(world, { sizePerReplica: false, cooldown: '6h' });
    await world.until('all have as much', async () => (await cpuOf('db-3')) === had, 5 * MINUTE);
    expect(await cpuOf('db-2')).toBe(had);
  });

  test('by going back to one size nobody is given more than the largest has, whatever all had long ago', async () => {
    const world = await startSizedWorld({ onDemandNodes: 3, spotNodes: 0 });
    await world.api.create(resources.statefulSets, statefulSet(3), inShop);
    await world.until('all run', async () => (await sizedPods(world, 'db')).length === 3, 5 * MINUTE);
    await createPolicy(world, { mode: 'Auto', updates: own });
    const sizes = async () => [...new Set((await memoryOf(world)).values())];
    await world.until('all have shrunk', async () => (await sizes()).join() === '120Mi', 10 * MINUTE);
    await world.clock.advance(40 * MINUTE);
    await setUpdates(world, { sizePerReplica: false, memoryDecrease: 'Never' });
    await world.until('back to one size', async () => (await annotationOf(world)) === undefined, 5 * MINUTE);
    await world.clock.advance(2 * MINUTE);
    expect(await sizes()).toEqual(['120Mi']);
  });

  test('an edited template means what it says: nobody keeps a size from before', async () => {
    const world = await startShrunk();
    const resourcesOf = { requests: { cpu: '700m', memory: '600Mi' }, limits: { memory: '1Gi' } };
    const containers = [{ name: 'app', image: 'app:1', resources: resourcesOf }];
    await setUpdates(world, { memoryDecrease: 'Never', minChange: '90%' });
    const body = { spec: { template: { spec: { containers } } } };
    await world.api.patch(resources.statefulSets, 'db', { type: 'merge', body }, inShop);
    await world.until(
      'all are new',
      async () => [...(await memoryOf(world)).values()].every((memory) => memory === '600Mi'),
      20 * MINUTE,
    );
    await world.clock.advance(2 * MINUTE);
    expect(new Set((await memoryOf(world)).values())).toEqual(new Set(['600Mi']));
  });

  test('a replica that was scaled away for long is as good as a new one', async () => {
    const world = await startShrunk();
    const scale = (replicas: number) =>
      world.api.patch(resources.statefulSets, 'db', { type: 'merge', body: { spec: { replicas } } }, inShop);
    await scale(REPLICAS - 1);
    await world.clock.advance(30 * MINUTE);
    expect(await annotationOf(world)).toContain('"9":');
    await world.until('let go', async () => (await annotationOf(world))?.includes('"9":') === false, 40 * MINUTE);
    expect(await annotationOf(world)).toContain('"8":');
  });
});
