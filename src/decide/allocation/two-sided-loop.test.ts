/**
 * Agent and operator together: plan, desired values as text, admission on fresh facts, a kubelet that takes its time.
 * What the API server would refuse, and what a full node would suffer from, must not come up.
 */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PodAllocation } from '../../api/pod-allocation.ts';
import { createSeededRandom } from '../../lib/random.ts';
import { limitRangeProblem } from '../../model/size-bounds.ts';
import type { QuotaRecord } from '../../model/sizing-records.ts';
import { aLimitRange, anHpa } from '../../model/testing/sizing-records.ts';
import type { ResizeDecision } from '../size-decision.ts';
import { type Admission, admitAllocation } from './admit.ts';
import { type AllocationPod, chargedCpu, sizeOf } from './allocation-pod.ts';
import { clusterHints, type PodFacts } from './hints.ts';

import { quotaRoom } from './integrations/resource-quota.ts';
import type { NodeMemory, PodPlan } from './node-input.ts';
import { planNode } from './plan-node.ts';
import { readAllocation } from './read-allocation.ts';
import type { AllocationRules } from './rules.ts';
import { isResizing } from './seat.ts';
import { burn } from './testing/cpu-model.ts';
import { T0, testInput, testNode, testPod, testRules } from './testing/pods.ts';

interface World {
  readonly pods: AllocationPod[];
  readonly loads: readonly number[];
  readonly rules: AllocationRules;
  readonly facts: PodFacts;
  /** Hard `requests.cpu` of the namespace; undefined: no quota. */
  readonly quota: number | undefined;
  readonly usesHints: boolean;
  readonly seed: number;
}

const ALLOCATABLE = 1800;
const TICK = 2000;

/** The object that the agent writes, as the operator reads it. */
function allocationOf({ namespace, name, uid, target, isForced, isFunding }: PodPlan): PodAllocation {
  return {
    metadata: { name: uid, namespace },
    spec: {
      namespace,
      podName: name,
      podUID: uid,
      desiredCPURequest: `${target.request}m`,
      desiredCPULimit: `${target.limit ?? ALLOCATABLE}m`,
      limitPolicy: target.limitPolicy,
      urgent: isForced || isFunding,
    },
  };
}

function write(pod: AllocationPod, { changes }: ResizeDecision): AllocationPod {
  const to = new Map(changes.map((change) => [change.container, change.to]));
  return {
    ...pod,
    generation: pod.generation + 1,
    containers: pod.containers.map((each) => ({ ...each, size: { ...each.size, ...to.get(each.name) } })),
  };
}

/** The kubelet has done what the spec says. */
function actuate(pod: AllocationPod): AllocationPod {
  const sizes = new Map(pod.containers.map(({ name, size }) => [name, size]));
  return {
    ...pod,
    observedGeneration: pod.generation,
    statuses: pod.statuses.map((status) => ({
      ...status,
      actual: sizes.get(status.name),
      allocated: sizes.get(status.name),
    })),
  };
}

/** Runs both sides; `check` sees the pods after every write. Returns the writes of every tick. */
function run(world: World, ticks: number, check: (pods: readonly AllocationPod[], world: World) => void): number[] {
  const { loads, rules, facts, quota } = world;
  const random = createSeededRandom(world.seed);
  let { pods } = world;
  const originals = pods.map(sizeOf);
  let memory: NodeMemory = new Map();
  const desired = new Map<string, PodAllocation>();
  const lastWrites = new Map<string, number>();
  return Array.from({ length: ticks }, (_, tick) => {
    const now = T0 + TICK * tick;
    const measured = burn(pods, loads, 1670);
    const entries = pods.map((pod, index) => ({
      pod,
      measured: measured[index],
      original: originals[index],
      hints: world.usesHints ? clusterHints(pod, facts, rules, now) : undefined,
    }));
    const plan = planNode(testInput(entries, { rules, memory, now }));
    memory = plan.memory;
    for (const each of plan.writes) desired.set(each.uid, allocationOf(each));
    let writes = 0;
    // The operator passes over all allocations a few times within a tick, the kubelet in between.
    for (let pass = 0; pass < 4; pass++) {
      for (const pod of [...pods]) {
        const allocation = desired.get(pod.uid);
        const read = allocation === undefined ? undefined : readAllocation(allocation);
        if (read?.ok !== true) continue;
        const charged = pods.reduce((sum, each) => sum + chargedCpu(each), 0);
        const used = pods.reduce((sum, each) => sum + chargedCpu(each), 0);
        const quotas = quota === undefined ? [] : [quotaRecord(quota, used)];
        const admission: Admission = admitAllocation(read.desired, {
          pod,
          workload: undefined,
          workloadUid: undefined,
          facts,
          history: {},
          quotas,
          node: { allocatable: ALLOCATABLE, conditions: testNode().conditions, charged },
          isStale: false,
          lastWriteAt: lastWrites.get(pod.uid),
          rules,
          now: now + 400 * pass,
        });
        if (admission.kind !== 'resize') continue;
        writes++;
        lastWrites.set(pod.uid, now);
        pods = pods.map((each) => (each.uid === pod.uid ? write(each, admission.decision) : each));
        check(pods, world);
      }
      pods = pods.map((pod) => (isResizing(pod) && random.next() < 0.6 ? actuate(pod) : pod));
    }
    return writes;
  });
}

const quotaRecord = (hard: number, used: number): QuotaRecord => ({
  namespace: 'shop',
  name: 'quota',
  hard: { cpuRequest: hard },
  used: { cpuRequest: used },
  scopes: undefined,
});
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
