/** Rightsizing on the embedded cluster, from usage to status, by the operator as it is wired. */
import { describe, expect, test } from 'vitest';
import {
  createPolicy,
  deployLoaded,
  readPolicy,
  requestsOf,
  startSizedWorld,
  statusOf,
  workloadWrites,
} from './testing/sized-world.ts';
import { untilReady } from './testing/steps.ts';

describe('a policy in Recommend', () => {
  test('has the recommendation in its status, and nothing is written to the workload', async () => {
    const world = await startSizedWorld();
    await deployLoaded(world);
    await untilReady(world, 'web', 2);
    await createPolicy(world, { mode: 'Recommend' });
    await world.until('a recommendation', async () => (await statusOf(world))?.recommendations?.[0]?.cpu !== undefined);
    const entry = await statusOf(world);
    expect(entry).toMatchObject({ kind: 'Deployment', namespace: 'shop', status: 'Recommended' });
    expect(entry?.recommendations?.[0]).toMatchObject({ container: 'app', cpu: '240m' });
    expect(entry?.recommendations?.[0]?.memory).toMatch(/^\d+(Ki|Mi)?$/);
    const { status } = await readPolicy(world);
    expect(status?.conditions?.map(({ type, status: is }) => [type, is])).toEqual([
      ['Ready', 'True'],
      ['MetricsAvailable', 'True'],
      ['DryRun', 'False'],
      ['PermissionsSufficient', 'True'],
      ['Degraded', 'False'],
    ]);
    expect(workloadWrites(world)).toEqual([]);
    expect(await requestsOf(world)).toEqual(Array.from({ length: 2 }, () => ({ cpu: '500m', memory: '512Mi' })));
  });
});
