/**
 * Agent and operator together. What the API server would refuse, and what a full node would suffer from, must not come
 * up.
 */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { limitRangeProblem } from '../../model/size-bounds.ts';
import { aLimitRange, anHpa } from '../../model/testing/sizing-records.ts';
import { type AllocationPod, chargedCpu, sizeOf } from './allocation-pod.ts';
import { quotaRoom } from './integrations/resource-quota.ts';
import { testPod, testRules } from './testing/pods.ts';
import { ALLOCATABLE, quotaRecord, run, type World } from './testing/two-sided.ts';

const range = aLimitRange({ min: { cpu: 20 }, max: { cpu: 1500 }, maxLimitRequestRatio: { cpu: 20 } });
const hpa = anHpa({ maxReplicas: 9, utilization: { cpu: 80 } });

const row = fc.record({
  request: fc.integer({ min: 75, max: 450 }),
  limit: fc.integer({ min: 500, max: 1500 }),
  load: fc.integer({ min: 0, max: 2500 }),
  weight: fc.constantFrom('1', '2', '4'),
});
const anyWorld: fc.Arbitrary<World> = fc
  .record({
    rows: fc.array(row, { minLength: 1, maxLength: 4 }),
    hasRange: fc.boolean(),
    isScaled: fc.boolean(),
    quotaRoom: fc.option(fc.integer({ min: 0, max: 600 }), { nil: undefined }),
    apply: fc.constantFrom('requests+ceilings' as const, 'limits' as const),
    ceilings: fc.constantFrom('greedy' as const, 'all' as const, 'existing' as const),
    userLimits: fc.constantFrom('keep' as const, 'lift' as const),
    usesHints: fc.boolean(),
    seed: fc.nat(),
  })
  .map(({ rows, hasRange, isScaled, quotaRoom: room, apply, ceilings, userLimits, usesHints, seed }) => ({
    pods: rows.map(({ request, limit, weight }, index) =>
      testPod(`p${index}`, { request, limit, marks: { 'mbcas.io/weight': weight } }),
    ),
    loads: rows.map(({ load }) => load),
    rules: { ...testRules, apply, ceilings, userLimits },
    facts: { limitRanges: hasRange ? [range] : [], hpas: isScaled ? [hpa] : [], pdbs: [] },
    quota: room === undefined ? undefined : rows.reduce((sum, { request }) => sum + request, room),
    usesHints,
    seed,
  }));

/** One has all that the other needs: what is free comes only with its giving up, and that takes time. */
const full: World = {
  pods: ['idle', 'busy'].map((name) => testPod(name, { request: 850, limit: 1500 })),
  loads: [20, 2500],
  rules: testRules,
  facts: { limitRanges: [], hpas: [], pdbs: [] },
  quota: undefined,
  usesHints: false,
  seed: 1,
};

describe('for any node, namespace and kubelet', () => {
  const holds = (check: (pods: readonly AllocationPod[], world: World) => void): void => {
    let writes = 0;
    fc.assert(
      fc.property(anyWorld, (world) => {
        for (const each of run(world, 20, check)) writes += each;
      }),
      { numRuns: 150, examples: [[full]] },
    );
    // Where nobody writes, everything holds.
    expect(writes).toBeGreaterThan(150);
  };

  test('P16: what Kubernetes charges never exceeds the node, not even in flight', () => {
    holds((pods) => {
      expect(pods.reduce((sum, pod) => sum + chargedCpu(pod), 0)).toBeLessThanOrEqual(ALLOCATABLE);
    });
  });

  test('integration 2: the namespace never exceeds its quota', () => {
    holds((pods, { quota }) => {
      const used = pods.reduce((sum, pod) => sum + chargedCpu(pod), 0);
      if (quota !== undefined) expect(used).toBeLessThanOrEqual(quota);
      if (quota !== undefined) expect(quotaRoom([quotaRecord(quota, used)], pods).cpuRequest).toBe(quota - used);
    });
  });

  test('integration 4: no resize is outside the LimitRange', () => {
    holds((pods, { facts }) => {
      const ranges = facts.limitRanges === 'unknown' ? [] : facts.limitRanges;
      for (const { containers } of pods) expect(limitRangeProblem(ranges, containers)).toBeUndefined();
    });
  });

  test('integration 5: a request that an autoscaler divides by never changes', () => {
    holds((pods, world) => {
      if (world.facts.hpas.length === 0) return;
      pods.forEach((pod, index) => {
        const original = world.pods[index];
        if (original !== undefined) expect(sizeOf(pod).request).toBe(sizeOf(original).request);
      });
    });
  });

  test('no QoS class changes, and memory is as it was', () => {
    holds((pods, world) => {
      pods.forEach((pod, index) => {
        const { request, limit } = sizeOf(pod);
        expect(request).toBeLessThan(limit ?? Number.POSITIVE_INFINITY);
        const memoryOf = (each: AllocationPod | undefined) => each?.containers.map(({ size }) => size.memoryRequest);
        expect(memoryOf(pod)).toEqual(memoryOf(world.pods[index]));
      });
    });
  });

  test('P18: a constant load ends in no writes', () => {
    const sum = (writes: readonly number[]): number => writes.reduce((all, each) => all + each, 0);
    let early = 0;
    fc.assert(
      fc.property(anyWorld, (world) => {
        const writes = run(world, 300, () => {});
        early += sum(writes.slice(0, 200));
        expect(sum(writes.slice(200))).toBe(0);
      }),
      { numRuns: 60 },
    );
    expect(early).toBeGreaterThan(60);
  });
});

test('integration 4: what a pod has to keep for the ratio of its limit pays for no other', () => {
  const ratio = aLimitRange({ maxLimitRequestRatio: { cpu: 2 } });
  const pods = [
    testPod('idle', { request: 850, limit: 1500 }),
    testPod('short', { request: 300, limit: 600 }),
    testPod('steady', { request: 560, limit: 1100 }),
  ];
  const world: World = {
    ...full,
    pods,
    loads: [20, 600, 560],
    facts: { ...full.facts, limitRanges: [ratio] },
    usesHints: true,
  };
  let last: readonly AllocationPod[] = pods;
  run(world, 30, (written) => {
    last = written;
  });
  const requests = Object.fromEntries(last.map((pod) => [pod.name, sizeOf(pod).request]));
  // Of the 850m of `idle` 100m can be had, not 425m: as much as both of the others are raised by.
  expect(requests['idle']).toBe(750);
  expect(requests['short']).toBeGreaterThan(340);
});

test('integration 4, integration 5: with limits, who has what the ratio to a request that stays allows is written no more', () => {
  const ratio = aLimitRange({ maxLimitRequestRatio: { cpu: 2 } });
  const pod = testPod('busy', { request: 359, limit: 576 });
  const facts = { ...full.facts, limitRanges: [ratio], hpas: [hpa] };
  const rules = { ...testRules, apply: 'limits' } as const;
  let last: readonly AllocationPod[] = [pod];
  const writes = run({ ...full, pods: [pod], loads: [2500], rules, facts, usesHints: true }, 100, (written) => {
    last = written;
  });
  // 718m, within the smallest change.
  const [size] = last.map(sizeOf);
  expect(size?.request).toBe(359);
  expect(size?.limit).toBeGreaterThan(690);
  expect(writes.slice(50).every((each) => each === 0)).toBe(true);
});
