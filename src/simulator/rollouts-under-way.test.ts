import { expect, test } from 'vitest';
import type { Deployment } from '../api/core.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createRolloutsUnderWay } from './rollouts-under-way.ts';

const KEY = 'Deployment shop/web';
const STUCK = 60_000;

function setUp() {
  const clock = createVirtualClock(0);
  const rollouts = createRolloutsUnderWay(clock, STUCK);
  const show = (updatedReplicas: number, replicas = 3, observedGeneration = 2): number => {
    const status = { observedGeneration, updatedReplicas, replicas };
    rollouts.see(KEY, { metadata: { generation: 2 }, spec: { replicas: 3 }, status } as unknown as Deployment);
    return rollouts.count();
  };
  return { clock, rollouts, show };
}

test('a rollout counts from when it begins until all pods are new', () => {
  const { rollouts, show } = setUp();
  expect(show(0)).toBe(0);
  rollouts.begin(KEY);
  expect(rollouts.has(KEY)).toBe(true);
  expect([show(3, 3, 1), show(0), show(2, 4), show(3, 4), show(3)]).toEqual([1, 1, 1, 1, 0]);
  expect(rollouts.has(KEY)).toBe(false);
});

test('or until its workload is gone', () => {
  const { rollouts } = setUp();
  rollouts.begin(KEY);
  rollouts.end(KEY);
  expect(rollouts.count()).toBe(0);
});

test('one that does not go on has given its place back for good; pods made anew in place of others are no step', async () => {
  const { clock, rollouts, show } = setUp();
  rollouts.begin(KEY);
  await clock.advance(STUCK - 1);
  expect(show(1)).toBe(1);
  await clock.advance(STUCK - 1);
  expect([show(0), show(1)]).toEqual([1, 1]);
  await clock.advance(1);
  expect([show(1), show(2)]).toEqual([0, 0]);
});
