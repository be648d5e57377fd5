/** Sizes per replica where the cluster may be changed only now and then. */
import { expect, test } from 'vitest';
import { resources } from '../api/resources.ts';
import { restarts, statefulSet } from './testing/replicas.ts';
import { createPolicy, sizedPods, startSizedWorld } from './testing/sized-world.ts';
import { inShop, MINUTE } from './testing/steps.ts';

const LEAKING = 8;

/** How often replicas that leak, 40 MiB a minute, are killed in two hours, each begun at another time. */
async function killsOf(sizePerReplica: boolean): Promise<number> {
  const world = await startSizedWorld({
    onDemandNodes: 3,
    spotNodes: 0,
    rightsizing: '  maxChangesPerMinute: 3',
  });
  const set = statefulSet(LEAKING);
  const { template } = set.spec ?? {};
  if (set.spec !== undefined && template?.spec !== undefined) {
    template.metadata = {
      ...template.metadata,
      annotations: { 'stowage.test/cpu': '100m', 'stowage.test/memory': 'leak(30Mi, 2400Mi)' },
    };
    template.spec.containers = [
      {
        name: 'app',
        image: 'app:1',
        resources: { requests: { cpu: '200m', memory: '256Mi' }, limits: { memory: '256Mi' } },
      },
    ];
  }
  await world.api.create(resources.statefulSets, set, inShop);
  await world.until('all run', async () => (await sizedPods(world, 'db')).length === LEAKING, 5 * MINUTE);
  await createPolicy(world, {
    mode: 'Auto',
    updates: { sizePerReplica, updateRequestsOnly: false, cooldown: '1m' },
  });
  for (let index = 0; index < LEAKING; index++) {
    await world.clock.advance(MINUTE);
    await world.api.delete(resources.pods, `db-${index}`, inShop);
  }
  await world.clock.advance(120 * MINUTE);
  return await restarts(world);
}

test('replicas that leak are killed no more often than with one size for all', async () => {
  const [own, all] = [await killsOf(true), await killsOf(false)];
  expect(all).toBeGreaterThan(0);
  expect(own).toBeLessThanOrEqual(all);
});
