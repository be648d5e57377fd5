/** Several workloads want to move to where there is room for one of them, at the same moment. */
import { expect, test } from 'vitest';
import type { Pod } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import { type EmbeddedWorld, statefulSetObject } from './testing/embedded-world.ts';
import { annotate, deploy, firstBlock, inShop, MINUTE, policy, startWorld, untilReady } from './testing/steps.ts';

const label = (side: string) => `{ matchLabels: { karpenter.sh/capacity-type: ${side} } }`;
/** No autoscaler makes nodes. */
const config = `controllers: { nodeClassifier: { spotLabels: [${label('spot')}], onDemandLabels: [${label('on-demand')}] } }`;
const names = ['a', 'b', 'c', 'd', 'e'];

/** One on-demand node, with 150m left: room for one pod of 100m. */
async function startNearlyFull(): Promise<EmbeddedWorld> {
  const world = await startWorld({ config, onDemandNodes: 1 });
  const filler: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'filler' },
    spec: {
      nodeSelector: { 'karpenter.sh/capacity-type': 'on-demand' },
      containers: [{ name: 'app', image: 'app:1', resources: { requests: { cpu: '15850m' } } }],
    },
  };
  await world.api.create(resources.pods, filler, inShop);
  return world;
}

/** How many of their pods run on on-demand, and how many nowhere. */
async function placesOf(world: EmbeddedWorld) {
  const sides = await Promise.all(names.map((name) => world.sides('shop', name)));
  const sum = (side: 'on-demand' | 'pending') => sides.reduce((total, each) => total + each[side], 0);
  return { onDemand: sum('on-demand'), pending: sum('pending') };
}

test('one of several Deployments moves to the last place: the others keep their pods where they run', async () => {
  const world = await startNearlyFull();
  for (const name of names) await deploy(world, 4, policy(100, 0), name);
  await world.clock.advance(MINUTE);
  await Promise.all(names.map((name) => annotate(world, policy(100, 1), name)));
  await world.clock.advance(30 * MINUTE);
  expect(world.evictions).toHaveLength(1);
  expect(await placesOf(world)).toEqual({ onDemand: 1, pending: 0 });
  expect(
    names.map((name) => firstBlock(world, 'Deployment', name)).filter((block) => block === 'NoRoomOnSide'),
  ).toHaveLength(4);
});

/** StatefulSets of 4, all on spot. @param stopAfter how long a pod takes to end. */
async function runSets(world: EmbeddedWorld, stopAfter = '3s'): Promise<void> {
  for (const name of names) {
    const set = statefulSetObject({ name, replicas: 4, annotations: policy(100, 0) });
    Object.assign(set.spec?.template.metadata ?? {}, { annotations: { 'stowage.test/stop-after': stopAfter } });
    Object.assign(set.spec?.template.spec ?? {}, { terminationGracePeriodSeconds: 120 });
    await world.api.create(resources.statefulSets, set, inShop);
    await untilReady(world, name, 4);
  }
  await world.clock.advance(MINUTE);
}

async function wantOneOnDemand(world: EmbeddedWorld): Promise<void> {
  const patch = { type: 'merge', body: { metadata: { annotations: policy(100, 1) } } } as const;
  await Promise.all(names.map((name) => world.api.patch(resources.statefulSets, name, patch, inShop)));
}

test('so does one of several StatefulSets, whose new pods are made only when the old ones are gone', async () => {
  const world = await startNearlyFull();
  await runSets(world);
  await wantOneOnDemand(world);
  await world.clock.advance(30 * MINUTE);
  expect(world.evictions).toHaveLength(1);
  expect(await placesOf(world)).toEqual({ onDemand: 1, pending: 0 });
});

test('the room that the last leader promised is not promised again by the next', async () => {
  const world = await startNearlyFull();
  await runSets(world, '110s');
  await world.startOperator('test_2');
  await wantOneOnDemand(world);
  await world.until('one pod goes', () => world.evictions.length > 0);
  world.cutOff('test_1');
  await world.clock.advance(30 * MINUTE);
  expect(world.evictions).toHaveLength(1);
  expect(await placesOf(world)).toEqual({ onDemand: 1, pending: 0 });
});
