/** What the conditions of a policy say while it runs beside others. */
import { expect, test } from 'vitest';
import { createMetrics } from '../lib/metrics.ts';
import type { EmbeddedWorld } from './testing/embedded-world.ts';
import { createPolicy, deployLoaded, readPolicy, startSizedWorld, statusOf } from './testing/sized-world.ts';
import { MINUTE, untilReady } from './testing/steps.ts';

const conditionOf = async (world: EmbeddedWorld, name: string, type: string) =>
  (await readPolicy(world, { name })).status?.conditions?.find((each) => each.type === type);

test('a policy whose workloads another one sizes lacks no usage, and is in force for none', async () => {
  const world = await startSizedWorld();
  await deployLoaded(world, { replicas: 1 });
  await untilReady(world, 'web', 1);
  await createPolicy(world, { name: 'winner', spec: { weight: 200 } });
  await createPolicy(world, { name: 'loser', spec: { weight: 1 } });
  await world.until(
    'advised',
    async () => (await statusOf(world, 'web', { name: 'winner' }))?.status === 'Recommended',
  );
  await world.clock.advance(MINUTE);
  expect((await readPolicy(world, { name: 'loser' })).status?.workloadsDiscovered).toBe(1);
  expect(await conditionOf(world, 'loser', 'MetricsAvailable')).toMatchObject({ status: 'True', reason: 'UsageKnown' });
  expect((await conditionOf(world, 'loser', 'Ready'))?.message).toContain('0 workloads');
  expect((await conditionOf(world, 'winner', 'Ready'))?.message).toContain('1 workload');
});

test('a workload that has just begun is no reason to doubt the source of usage', async () => {
  const world = await startSizedWorld();
  await deployLoaded(world, { replicas: 1 });
  await untilReady(world, 'web', 1);
  await createPolicy(world);
  await world.until('advised', async () => (await statusOf(world))?.status === 'Recommended');
  const before = await conditionOf(world, 'sizes', 'MetricsAvailable');
  expect(before).toMatchObject({ status: 'True' });
  await deployLoaded(world, { name: 'late', replicas: 1 });
  await world.until('listed', async () => (await statusOf(world, 'late')) !== undefined);
  for (let second = 0; second < 20; second++) {
    await world.clock.advance(1_000);
    expect(await conditionOf(world, 'sizes', 'MetricsAvailable')).toMatchObject({ status: 'True' });
  }
  await world.until('advised, too', async () => (await statusOf(world, 'late'))?.status === 'Recommended', MINUTE);
});

test('errors are counted by what went wrong, as OptiPod names it', async () => {
  const metrics = createMetrics();
  const world = await startSizedWorld({ metrics });
  await deployLoaded(world, { replicas: 1 });
  await untilReady(world, 'web', 1);
  await createPolicy(world);
  const matchExpressions = [{ key: 'app', operator: 'Is' }];
  await createPolicy(world, { name: 'wrong', spec: { selector: { workloadSelector: { matchExpressions } } } });
  const count = async (policy: string, type: string): Promise<number> => {
    const [, value] =
      new RegExp(`_errors_total{policy="${policy}",error_type="${type}"} (\\d+)`).exec(await metrics.render()) ?? [];
    return Number(value ?? 0);
  };
  await world.until('told of the policy that is not valid', async () => (await count('wrong', 'validation_error')) > 0);
  await world.until('advised', async () => (await statusOf(world))?.status === 'Recommended');
  expect([await count('sizes', 'discovery_error'), await count('sizes', 'fetch_error')]).toEqual([0, 0]);
  const verbs = ['list', 'watch'];
  for (const [resource, type] of [
    ['replicasets', 'discovery_error'],
    ['optimizationpolicies', 'fetch_error'],
  ] as const) {
    const fault = world.server.faults.add({ verbs, resources: [resource], effect: { kind: 'outage' } });
    await world.until(type, async () => (await count('sizes', type)) > 0);
    fault.remove();
    await world.until('all is known again', async () => {
      const before = await count('sizes', type);
      await world.clock.advance(20_000);
      return (await count('sizes', type)) === before;
    });
  }
});
