/** Sizes per replica where nothing changes any more. */
import { expect, test } from 'vitest';
import { policyType } from '../api/optimization-policy.ts';
import type { EmbeddedWorld } from './testing/embedded-world.ts';
import { annotationOf, memoryOf, startShrunk } from './testing/replicas.ts';
import { sizedEvents, workloadWrites } from './testing/sized-world.ts';
import { inShop, MINUTE } from './testing/steps.ts';

/** But for the lease, what is remembered of usage, which is saved from time to time, and the status once an hour. */
async function expectRest(world: EmbeddedWorld): Promise<void> {
  const before = world.operatorWrites.length;
  await world.clock.advance(30 * MINUTE);
  const writes = world.operatorWrites.slice(before).filter((write) => !/ (leases|configmaps)$/.test(write));
  expect(['', 'patch optimizationpolicies']).toContain(writes.join());
}

test('an hour later nothing is written, nor by the next leader, and everybody has what he had', async () => {
  const world = await startShrunk();
  // One of ten is hot, and P90 of all would be now the one, now the other.
  const body = { spec: { metricsConfig: { percentile: 'P50' } } };
  await world.api.patch(policyType('optipod.io'), 'sizes', { type: 'merge', body }, inShop);
  await world.clock.advance(60 * MINUTE);
  const had = [await annotationOf(world), await memoryOf(world)];
  await expectRest(world);
  await world.startOperator('test_2');
  world.cutOff('test_1');
  await world.clock.advance(10 * MINUTE);
  await expectRest(world);
  expect([await annotationOf(world), await memoryOf(world)]).toEqual(had);
});

test('what is advised for all jumps, with one hot of ten and P90; nobody is given it, and the workload tells of it once an hour', async () => {
  const world = await startShrunk();
  await world.clock.advance(40 * MINUTE);
  const before = workloadWrites(world).length;
  const told = (await sizedEvents(world)).length;
  await world.clock.advance(120 * MINUTE);
  expect(workloadWrites(world).length - before).toBeLessThanOrEqual(2);
  expect((await sizedEvents(world)).length - told).toBeLessThanOrEqual(2);
});
