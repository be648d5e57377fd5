/** Sizes per replica: one of ten needs far more than the others. */
import { describe, expect, test } from 'vitest';
import { policyType } from '../api/optimization-policy.ts';
import { resources } from '../api/resources.ts';
import {
  annotationOf,
  HOT,
  haveShrunk,
  heat,
  memoryOf,
  own,
  REPLICAS,
  requestsByPod,
  restarts,
  setUpdates,
  startDb,
  startHotDb,
  startShrunk,
} from './testing/replicas.ts';
import {
  createPolicy,
  deployLoaded,
  sizedEvents,
  sizedPods,
  startSizedWorld,
  statusOf,
} from './testing/sized-world.ts';
import { inShop, MINUTE } from './testing/steps.ts';

describe('sizes per replica', () => {
  test('nine of ten shrink, the hot one keeps what it needs, nobody is killed, and the template stays', async () => {
    const world = await startShrunk();
    expect((await memoryOf(world)).get(HOT)).toBe('512Mi');
    expect(await restarts(world)).toBe(0);
    expect((await world.api.get(resources.statefulSets, 'db', inShop)).metadata?.generation).toBe(1);
    const status = await statusOf(world, 'db');
    expect(status).toMatchObject({ status: 'Applied', lastApplyMethod: 'InPlace' });
    expect(status?.replicaSizes).toBe('10 of 10 replicas have sizes of their own: app cpu 120m, memory 120Mi to 512Mi');
  });

  test('without the field all keep the size that the hottest needs', async () => {
    const world = await startDb({});
    await world.clock.advance(10 * MINUTE);
    expect(new Set((await memoryOf(world)).values()).size).toBe(1);
    expect(await annotationOf(world)).toBeUndefined();
    expect(await statusOf(world, 'db')).not.toHaveProperty('replicaSizes');
  });

  test('one goes first and is watched before the others follow', async () => {
    const world = await startDb();
    const small = async () => [...(await memoryOf(world))].filter(([, memory]) => memory !== '512Mi');
    await world.until('one has less', async () => (await small()).length > 0, 5 * MINUTE);
    await world.clock.advance(5_000);
    expect(await small()).toHaveLength(1);
    expect(await statusOf(world, 'db')).toMatchObject({ status: 'Pending', reason: 'CanaryWatched' });
  });

  test('each is born again with its own size, and a new ordinal with that of all', async () => {
    const world = await startShrunk();
    for (const name of [HOT, 'db-3']) await world.api.delete(resources.pods, name, inShop);
    await world.until('they are back', async () => (await sizedPods(world, 'db')).length === REPLICAS, 5 * MINUTE);
    const born = await memoryOf(world);
    expect([born.get(HOT), born.get('db-3')]).toEqual(['512Mi', '120Mi']);
    const body = { spec: { replicas: REPLICAS + 1 } };
    await world.api.patch(resources.statefulSets, 'db', { type: 'merge', body }, inShop);
    await world.until('one more', async () => (await sizedPods(world, 'db')).length === REPLICAS + 1, 5 * MINUTE);
    expect((await memoryOf(world)).get('db-10')).toBe('512Mi');
  });

  test('what grows hot is given more at once, and the others nothing', async () => {
    const world = await startShrunk();
    await heat(world, 'db-2', '100Mi', '900m');
    const cpuOf = async (name: string) => (await requestsByPod(world)).get(name)?.['cpu'] ?? '';
    await world.until('it has more', async () => (await cpuOf('db-2')) !== '120m', 15 * MINUTE);
    await world.clock.advance(MINUTE);
    expect(await cpuOf('db-3')).toBe('120m');
    expect(await restarts(world)).toBe(0);
  });

  test('less that does harm is taken back from that replica only', async () => {
    const world = await startHotDb('  revertWindow: 10m');
    await world.clock.advance(20_000);
    await createPolicy(world, { mode: 'Auto', updates: { ...own, updateRequestsOnly: false } });
    await world.until('nine have shrunk', () => haveShrunk(world), 10 * MINUTE);
    await heat(world, 'db-4', 'step(100Mi, 300Mi, 10s)');
    await world.until(
      'it is told',
      async () => (await sizedEvents(world)).some(({ reason }) => reason === 'ChangeReverted'),
      10 * MINUTE,
    );
    await world.clock.advance(MINUTE);
    const sizes = await memoryOf(world);
    expect(Number.parseInt(sizes.get('db-4') ?? '', 10)).toBeGreaterThanOrEqual(512);
    expect([...sizes.values()].filter((memory) => memory === '120Mi')).toHaveLength(REPLICAS - 2);
    expect(await restarts(world)).toBe(1);
  });

  test('the next leader takes it back as well', async () => {
    const world = await startHotDb('  revertWindow: 30m');
    await world.clock.advance(20_000);
    await world.startOperator('test_2');
    await createPolicy(world, { mode: 'Auto', updates: { ...own, updateRequestsOnly: false } });
    await world.until('nine have shrunk', () => haveShrunk(world), 10 * MINUTE);
    await heat(world, 'db-4', 'step(100Mi, 300Mi, 10s)');
    world.cutOff('test_1');
    await world.until(
      'it is taken back',
      async () => Number.parseInt((await memoryOf(world)).get('db-4') ?? '', 10) >= 512,
      10 * MINUTE,
    );
    expect((await memoryOf(world)).get('db-5')).toBe('120Mi');
  });

  test('when the policy asks for it no more, all return to the size that is enough for each', async () => {
    const world = await startShrunk();
    await setUpdates(world, { sizePerReplica: false, memoryDecrease: 'Never' });
    await world.until('they are alike', async () => new Set((await memoryOf(world)).values()).size === 1, 5 * MINUTE);
    expect([...(await memoryOf(world)).values()][0]).toBe('512Mi');
    expect(await annotationOf(world)).toBeUndefined();
    expect(await restarts(world)).toBe(0);
  });

  test('Recommend tells, and writes nothing', async () => {
    const world = await startHotDb();
    await createPolicy(world, { mode: 'Recommend', updates: own });
    await world.clock.advance(5 * MINUTE);
    expect((await statusOf(world, 'db'))?.replicaSizes).toMatch(
      /^10 of 10 replicas can be told apart by their usage: app cpu 120m, memory 120Mi to \d+Mi$/,
    );
    expect(await annotationOf(world)).toBeUndefined();
    expect(new Set((await memoryOf(world)).values())).toEqual(new Set(['512Mi']));
  });

  test('a policy that is switched off leaves nothing of it on the workload', async () => {
    const world = await startShrunk();
    await world.api.patch(
      policyType('optipod.io'),
      'sizes',
      { type: 'merge', body: { spec: { mode: 'Disabled' } } },
      inShop,
    );
    await world.until('given back', async () => (await annotationOf(world)) === undefined, 5 * MINUTE);
    expect((await memoryOf(world)).get('db-1')).toBe('120Mi');
  });

  test('a Deployment keeps one size, and says so', async () => {
    const world = await startSizedWorld();
    await deployLoaded(world);
    await createPolicy(world, { mode: 'Auto', updates: own });
    await world.until('told', async () => (await statusOf(world))?.replicaSizes !== undefined, 5 * MINUTE);
    expect((await statusOf(world))?.replicaSizes).toBe(
      'All replicas keep one size: replicas of a Deployment have no identity of their own',
    );
    await world.until('sized as ever', async () => (await statusOf(world))?.status === 'Applied', 5 * MINUTE);
  });
});
