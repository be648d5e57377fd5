/** Allocation in one process: agents on simulated nodes, the operator, kubelets that resize as real ones do. */
import { expect, test } from 'vitest';
import { createPods, millis, present, startAllocatedWorld } from './testing/allocated-world.ts';

test('a pod that needs more than it asked for has it within two loops; Applied says what is in force', async () => {
  const world = await startAllocatedWorld();
  await createPods(world.api, [
    { name: 'web', cpu: '800m', request: '100m' },
    { name: 'hog', cpu: '2000m', request: '900m' },
  ]);
  await world.until('allocations are there', async () => (await world.allocation('hog')) !== undefined);
  await world.until('web has more', async () => (await world.request('web')) > 500, 120_000);
  await world.until('applied', async () => (await world.allocation('web'))?.status?.phase === 'Applied', 60_000);
  const { spec, status } = present(await world.allocation('web'), 'allocation of web');
  const pod = await world.pod('web');
  expect(status?.appliedCPURequest).toBe(pod.status?.containerStatuses?.[0]?.resources?.requests?.['cpu']);
  expect(status?.appliedCPURequest).toBe(spec?.desiredCPURequest);
  expect(millis(status?.appliedCPURequest) + (await world.request('hog'))).toBeLessThanOrEqual(2000);
});
