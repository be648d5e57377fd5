/** Sizes per replica beside what else scales, replaces or keeps pods. */
import { describe, expect, test } from 'vitest';
import { resources } from '../api/resources.ts';
import type { EmbeddedWorld } from './testing/embedded-world.ts';
import {
  annotationOf,
  heat,
  memoryOf,
  own,
  REPLICAS,
  requestsByPod,
  startHotDb,
  startShrunk,
  statefulSet,
} from './testing/replicas.ts';
import { cpuAutoscaler, createPolicy, sizedPods, startSizedWorld, statusOf } from './testing/sized-world.ts';
import { inShop, MINUTE } from './testing/steps.ts';

const cpuOf = async (world: EmbeddedWorld, name: string): Promise<string | undefined> =>
  (await requestsByPod(world)).get(name)?.['cpu'];
const scale = async (world: EmbeddedWorld, replicas: number): Promise<void> => {
  await world.api.patch(resources.statefulSets, 'db', { type: 'merge', body: { spec: { replicas } } }, inShop);
  await world.until('scaled', async () => (await sizedPods(world, 'db')).length === replicas, 5 * MINUTE);
};

describe('sizes per replica', () => {
  test('where an autoscaler goes by the CPU requested, no replica requests another CPU; memory is its own', async () => {
    const world = await startHotDb();
    const autoscaler = cpuAutoscaler(REPLICAS, REPLICAS);
    const { scaleTargetRef } = autoscaler.spec ?? {};
    if (scaleTargetRef !== undefined) Object.assign(scaleTargetRef, { kind: 'StatefulSet', name: 'db' });
    await world.api.create(resources.horizontalPodAutoscalers, autoscaler, inShop);
    await world.clock.advance(20_000);
    await createPolicy(world, { mode: 'Auto', updates: own });
    await world.until('they shrink', async () => (await memoryOf(world)).get('db-3') === '120Mi', 10 * MINUTE);
    await world.clock.advance(10 * MINUTE);
    const cpu = new Set([...(await requestsByPod(world)).values()].map((requests) => requests['cpu']));
    expect([...cpu]).toEqual(['500m']);
    expect(await statusOf(world, 'db')).toMatchObject({
      reason: 'HpaTarget',
      replicaSizes: '10 of 10 replicas have sizes of their own: app cpu 500m, memory 120Mi to 512Mi',
    });
  });

  test('an ordinal that comes back within the hour has its own size again, later that of all and soon its own', async () => {
    const world = await startShrunk();
    await scale(world, REPLICAS - 2);
    await world.clock.advance(20 * MINUTE);
    await scale(world, REPLICAS);
    expect((await memoryOf(world)).get('db-9')).toBe('120Mi');
    await scale(world, REPLICAS - 2);
    await world.until('let go', async () => (await annotationOf(world))?.includes('"9":') === false, 80 * MINUTE);
    await scale(world, REPLICAS);
    expect((await memoryOf(world)).get('db-9')).toBe('512Mi');
    await world.until('shrunk', async () => (await memoryOf(world)).get('db-9') === '120Mi', 30 * MINUTE);
  });

  test('while pods of an older template wait until somebody deletes them, sizes go on', async () => {
    const world = await startSizedWorld({ onDemandNodes: 3, spotNodes: 0 });
    const set = statefulSet(REPLICAS);
    await world.api.create(
      resources.statefulSets,
      { ...set, spec: { ...Object(set.spec), updateStrategy: { type: 'OnDelete' } } },
      inShop,
    );
    await world.until('all run', async () => (await sizedPods(world, 'db')).length === REPLICAS, 5 * MINUTE);
    await heat(world, 'db-7', '420Mi');
    await world.clock.advance(20_000);
    await createPolicy(world, { mode: 'Auto', updates: own });
    const body = { spec: { template: { metadata: { annotations: { note: 'new' } } } } };
    await world.api.patch(resources.statefulSets, 'db', { type: 'merge', body }, inShop);
    await world.until('they shrink', async () => (await memoryOf(world)).get('db-3') === '120Mi', 10 * MINUTE);
    await world.api.delete(resources.pods, 'db-3', inShop);
    await world.until('it is back', async () => (await sizedPods(world, 'db')).length === REPLICAS, 5 * MINUTE);
    expect((await memoryOf(world)).get('db-3')).toBe('120Mi');
    await heat(world, 'db-2', '100Mi', '900m');
    await world.until('it has more', async () => (await cpuOf(world, 'db-2')) !== '120m', 15 * MINUTE);
  });
});
