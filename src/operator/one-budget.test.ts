/** One budget: evictions by placement, evictions and rollouts by rightsizing, at random and all at once. */
import { describe, expect, test } from 'vitest';
import type { Pod } from '../api/core.ts';
import { policyType } from '../api/optimization-policy.ts';
import { resources } from '../api/resources.ts';
import { createSeededRandom } from '../lib/random.ts';
import { createPolicy, deployLoaded, startSizedWorld } from './testing/sized-world.ts';
import { annotate, inShop, policy, untilReady } from './testing/steps.ts';

const BUDGET = 2;
const names = ['evicted-a', 'evicted-b', 'rolled-a', 'rolled-b'] as const;
const modes = ['evicted', 'rolled'] as const;
const modeOf = (name: string): string => name.split('-')[0] ?? '';

describe('all engines together', () => {
  test.each([1, 2, 3])(
    'never two disruptions of one workload, never more than the budget (%i)',
    async (seed) => {
      const random = createSeededRandom(seed);
      const pick = <Value>(values: readonly Value[]): Value => {
        const value = values[Math.floor(random.next() * values.length)];
        if (value === undefined) throw new Error('nothing to pick from');
        return value;
      };
      const world = await startSizedWorld({
        seed,
        config: `placement: { maxConcurrentEvictions: ${BUDGET} }`,
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
      const done = { evictions: 0, rollouts: 0, together: 0 };
      for (let step = 0; step < 240; step++) {
        if (step % 20 === 0) await annotate(world, policy(pick([0, 25, 50, 75, 100])), pick(names));
        if (step % 60 === 0) {
          const body = { spec: { metricsConfig: { safetyFactor: pick([1.2, 1.5, 2, 2.5]) } } };
          for (const mode of modes)
            await world.api.patch(policyType('optipod.io'), mode, { type: 'merge', body }, inShop);
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
          expect(evicted, `${name} at ${step} s`).toBeLessThanOrEqual(1);
          underWay += evicted + (isRollout ? 1 : 0);
          if (isRollout) done.rollouts++;
        }
        expect(underWay, `in the cluster at ${step} s`).toBeLessThanOrEqual(BUDGET);
        if (underWay === BUDGET) done.together++;
      }
      done.evictions = world.evictions.length;
      expect(done.evictions).toBeGreaterThan(8);
      expect(done.rollouts).toBeGreaterThan(0);
      expect(done.together).toBeGreaterThan(0);
    },
    300_000,
  );
});
