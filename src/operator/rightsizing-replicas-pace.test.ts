/** Sizes per replica where the cluster may be changed only now and then. */
import { expect, test } from 'vitest';
import { resources } from '../api/resources.ts';
import { restarts, statefulSet } from './testing/replicas.ts';
import { createPolicy, sizedPods, startSizedWorld } from './testing/sized-world.ts';
import { inShop, MINUTE } from './testing/steps.ts';

/** How often replicas that leak, 40 MiB a minute, are killed in two hours, each begun at another time. */
async function killsOf(leaking: number, sizePerReplica: boolean): Promise<number> {
  const world = await startSizedWorld({
    onDemandNodes: 3,
    spotNodes: 0,
    rightsizing: '  maxChangesPerMinute: 3',
  });
  const set = statefulSet(leaking);
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
  await world.until('all run', async () => (await sizedPods(world, 'db')).length === leaking, 5 * MINUTE);
  await createPolicy(world, {
    mode: 'Auto',
    updates: { sizePerReplica, updateRequestsOnly: false, cooldown: '1m' },
  });
  for (let index = 0; index < leaking; index++) {
    await world.clock.advance(MINUTE);
    await world.api.delete(resources.pods, `db-${index}`, inShop);
  }
  await world.clock.advance(120 * MINUTE);
  return await restarts(world);
}

test('replicas that leak are killed less than twice as often as with one size for all; by their own needs alone, more', async () => {
  const kills = { own: 0, all: 0 };
  // Whose turn comes first is chance, and one kill more or less with it.
  for (const leaking of [8, 10, 12]) {
    kills.own += await killsOf(leaking, true);
    kills.all += await killsOf(leaking, false);
  }
  expect(kills.all).toBeGreaterThan(0);
  expect(kills.own).toBeLessThan(2 * kills.all);
});
