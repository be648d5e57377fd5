/** Sizes per replica: what has done harm is not forgotten between one size for all and a size for each. */
import { expect, test } from 'vitest';
import { policyType } from '../api/optimization-policy.ts';
import { resources } from '../api/resources.ts';
import type { EmbeddedWorld } from './testing/embedded-world.ts';
import { annotationOf, haveShrunk, heat, memoryOf, own, setUpdates, startHotDb } from './testing/replicas.ts';
import { createPolicy, sizedEvents } from './testing/sized-world.ts';
import { inShop, MINUTE } from './testing/steps.ts';

const isHarmed = async (world: EmbeddedWorld): Promise<boolean> =>
  (await sizedEvents(world)).some(({ reason }) => reason === 'ChangeReverted');
const floorsOf = async (world: EmbeddedWorld): Promise<string | undefined> =>
  (await world.api.get(resources.statefulSets, 'db', inShop)).metadata?.annotations?.['optipod.io/learned-floors'];

test('back to one size, all keep above what did harm to one of them', async () => {
  const world = await startHotDb('  revertWindow: 10m');
  await world.clock.advance(20_000);
  await createPolicy(world, { mode: 'Auto', updates: { ...own, updateRequestsOnly: false } });
  await world.until('nine have shrunk', () => haveShrunk(world), 10 * MINUTE);
  await heat(world, 'db-4', 'step(100Mi, 300Mi, 10s)');
  await world.until('it is taken back', () => isHarmed(world), 10 * MINUTE);
  await world.clock.advance(MINUTE);
  expect(await floorsOf(world)).toBeUndefined();
  await setUpdates(world, { sizePerReplica: false });
  await world.until('back to one size', async () => (await annotationOf(world)) === undefined, 5 * MINUTE);
  expect(JSON.parse((await floorsOf(world)) ?? '{}')).toMatchObject({
    floors: [['app', 'memory', 512 * 1024 ** 2, expect.any(Number)]],
  });
});

test('what did harm to all is too little for each of them, too', async () => {
  const world = await startHotDb();
  await createPolicy(world, { mode: 'Recommend', updates: own });
  await world.clock.advance(20_000);
  const floors = [['app', 'memory', 300 * 1024 ** 2, world.clock.now() + 60 * 60_000]];
  const annotations = { 'optipod.io/learned-floors': JSON.stringify({ floors, reverts: 0 }) };
  await world.api.patch(resources.statefulSets, 'db', { type: 'merge', body: { metadata: { annotations } } }, inShop);
  const mode = { type: 'merge', body: { spec: { mode: 'Auto' } } } as const;
  await world.api.patch(policyType('optipod.io'), 'sizes', mode, inShop);
  const cold = async (): Promise<ReadonlySet<string | undefined>> => {
    const sizes = await memoryOf(world);
    return new Set([...sizes].flatMap(([name, memory]) => (name === 'db-7' ? [] : [memory])));
  };
  await world.until('they have less', async () => !(await cold()).has('512Mi'), 10 * MINUTE);
  expect([...(await cold())]).toEqual(['300Mi']);
  await world.clock.advance(70 * MINUTE);
  expect([...(await cold())]).toEqual(['120Mi']);
});
