/** Sizes per replica where something goes wrong in the middle. */
import { expect, test } from 'vitest';
import { policyType } from '../api/optimization-policy.ts';
import { resources } from '../api/resources.ts';
import type { EmbeddedWorld } from './testing/embedded-world.ts';
import {
  annotationOf,
  HOT,
  haveShrunk,
  heat,
  own,
  REPLICAS,
  requestsByPod,
  restarts,
  startDb,
  startHotDb,
  statefulSet,
} from './testing/replicas.ts';
import { createPolicy, sizedEvents, sizedPods, startSizedWorld } from './testing/sized-world.ts';
import { inShop, MINUTE } from './testing/steps.ts';

const HARMFUL = 'step(100Mi, 300Mi, 10s)';

/** Nine have less, limits too, and are still watched. */
async function startWatched(): Promise<EmbeddedWorld> {
  const world = await startHotDb('  revertWindow: 10m');
  await world.clock.advance(20_000);
  await createPolicy(world, { mode: 'Auto', updates: { ...own, updateRequestsOnly: false } });
  await world.until('nine have shrunk', () => haveShrunk(world), 10 * MINUTE);
  return world;
}

const setMode = (world: EmbeddedWorld, mode: string) =>
  world.api.patch(policyType('optipod.io'), 'sizes', { type: 'merge', body: { spec: { mode } } }, inShop);
const smallOf = (text: string | undefined): readonly string[] => {
  const { replicas = {} } = JSON.parse(text ?? '{}') as { replicas?: Record<string, { before?: unknown }> };
  return Object.entries(replicas).flatMap(([replica, { before }]) => (before === undefined ? [] : [replica]));
};

async function cordonAll(world: EmbeddedWorld): Promise<void> {
  for (const { metadata } of (await world.api.list(resources.nodes)).items) {
    const body = { spec: { unschedulable: true } };
    await world.api.patch(resources.nodes, metadata?.name ?? '', { type: 'merge', body });
  }
}

test('the first that has less and has no pod since is no proof that less is enough: the others wait', async () => {
  const world = await startDb();
  await world.until('one has less', async () => smallOf(await annotationOf(world)).length > 0, 5 * MINUTE);
  const [first = ''] = smallOf(await annotationOf(world));
  await cordonAll(world);
  await world.api.delete(resources.pods, `db-${first}`, inShop);
  for (let step = 0; step < 12; step++) {
    await world.clock.advance(20_000);
    expect(smallOf(await annotationOf(world))).toEqual([first]);
  }
});

test('what happened while nobody applied anything is not put down to a decrease of long before', async () => {
  const world = await startWatched();
  await setMode(world, 'Recommend');
  await world.clock.advance(20 * MINUTE);
  await heat(world, 'db-4', HARMFUL);
  await world.until('it was killed', async () => (await restarts(world)) > 0, 5 * MINUTE);
  await setMode(world, 'Auto');
  await world.clock.advance(2 * MINUTE);
  expect((await sizedEvents(world)).filter(({ reason }) => reason === 'ChangeReverted')).toEqual([]);
});

test('a raise that cannot be written is kept by the pod that has it', async () => {
  let isRefused = false;
  const world = await startSizedWorld({
    onDemandNodes: 3,
    spotNodes: 0,
    onWrite({ verb, resource }) {
      if (isRefused && verb === 'patch' && resource === 'statefulsets') throw new Error('connection reset');
    },
  });
  await world.api.create(resources.statefulSets, statefulSet(REPLICAS), inShop);
  await world.until('all run', async () => (await sizedPods(world, 'db')).length === REPLICAS, 5 * MINUTE);
  await heat(world, HOT, '420Mi');
  await world.clock.advance(20_000);
  await createPolicy(world, { mode: 'Auto', updates: own });
  await world.until('nine have shrunk', () => haveShrunk(world), 10 * MINUTE);
  await world.clock.advance(3 * MINUTE);
  isRefused = true;
  await heat(world, 'db-2', '100Mi', '900m');
  const cpuOf = async () => Number.parseInt((await requestsByPod(world)).get('db-2')?.['cpu'] ?? '', 10);
  await world.until('it has more', async () => (await cpuOf()) > 120, 20 * MINUTE);
  const seen: number[] = [];
  for (let step = 0; step < 60; step++) {
    await world.clock.advance(1_000);
    seen.push(await cpuOf());
  }
  expect(Math.min(...seen)).toBeGreaterThan(120);
});
