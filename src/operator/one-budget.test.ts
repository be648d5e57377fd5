/** One budget: evictions by placement, evictions and rollouts by rightsizing, at random and all at once. */
import { describe, expect, test } from 'vitest';
import type { Pod } from '../api/core.ts';
import { policyType } from '../api/optimization-policy.ts';
import { resources } from '../api/resources.ts';
import { createSeededRandom } from '../lib/random.ts';
import { createPolicy, deployLoaded, startSizedWorld } from './testing/sized-world.ts';
import { annotate, inShop, policy, untilReady } from './testing/steps.ts';

const names = ['evicted-a', 'evicted-b', 'rolled-a', 'rolled-b'] as const;
const modes = ['evicted', 'rolled'] as const;
const modeOf = (name: string): string => name.split('-')[0] ?? '';

/** The most disruptions at once, in the cluster and of one workload, with a budget of `limit`. */
async function disrupt(seed: number, limit: number) {
  const random = createSeededRandom(seed);
  const pick = <Value>(values: readonly Value[]): Value => {
    const value = values[Math.floor(random.next() * values.length)];
    if (value === undefined) throw new Error('nothing to pick from');
    return value;
  };
  const world = await startSizedWorld({
    seed,
    config: `placement: { maxConcurrentEvictions: ${limit} }`,
    rightsizing: '  maxChangesPerMinute: 100',
  });
  for (const name of names) {
    const labels = { optimize: modeOf(name), 'spotalis.io/enabled': 'true' };
    await deployLoaded(world, { name, replicas: 4, labels, annotations: policy(50), cpu: '100m' });
  }
  for (const name of names) await untilReady(world, name, 4);
  for (const mode of modes) {
    await createPolicy(world, {
      name: mode,
      mode: 'Auto',
      spec: { selector: { workloadSelector: { matchLabels: { optimize: mode } } } },
      updates: {
        allowInPlaceResize: false,
        allowRecreate: true,
        evictToResize: mode === 'evicted',
        cooldown: '20s',
        minChange: '5%',
      },
    });
  }
  const done = { evictions: 0, rollouts: 0, most: 0, mostOfOne: 0 };
  for (let step = 0; step < 240; step++) {
    if (step % 20 === 0) await annotate(world, policy(pick([0, 25, 50, 75, 100])), pick(names));
    if (step % 60 === 0) {
      const body = { spec: { metricsConfig: { safetyFactor: pick([1.2, 1.5, 2, 2.5]) } } };
      for (const mode of modes) await world.api.patch(policyType('optipod.io'), mode, { type: 'merge', body }, inShop);
    }
    await world.clock.advance(1_000);
    const { items } = await world.api.list<Pod>(resources.pods, inShop);
    const ending = items.filter(
      ({ metadata }) => metadata?.deletionTimestamp !== undefined && world.evictions.includes(metadata.name ?? ''),
    );
    let underWay = 0;
    for (const name of names) {
      const { metadata, status } = await world.api.get(resources.deployments, name, inShop);
      const isSeen = status?.observedGeneration === metadata?.generation;
      const isRolling = !isSeen || (status?.updatedReplicas ?? 0) < 4 || (status?.replicas ?? 0) > 4;
      const evicted = ending.filter((pod) => pod.metadata?.labels?.['app'] === name).length;
      // A pod that surges past the wanted number while another ends is the eviction itself.
      const isRollout = isRolling && modeOf(name) === 'rolled' && evicted === 0;
      done.mostOfOne = Math.max(done.mostOfOne, evicted);
      underWay += evicted + (isRollout ? 1 : 0);
      if (isRollout) done.rollouts++;
    }
    done.most = Math.max(done.most, underWay);
  }
  return { ...done, evictions: world.evictions.length };
}

describe('all engines together', () => {
  test('never two disruptions at once where the budget is one', async () => {
    for (const seed of [1, 2, 3]) {
      const done = await disrupt(seed, 1);
      expect(done, `seed ${seed}`).toMatchObject({ most: 1, mostOfOne: 1 });
      expect(done.evictions, `seed ${seed}`).toBeGreaterThan(8);
      // Though evictions ask for the one place all the time.
      expect(done.rollouts, `seed ${seed}`).toBeGreaterThan(0);
    }
  }, 300_000);

  test('with room for more there are more, and still one of a workload', async () => {
    const done = await disrupt(1, 4);
    expect(done.most).toBeGreaterThan(1);
    expect(done.mostOfOne).toBe(1);
  }, 300_000);
});
