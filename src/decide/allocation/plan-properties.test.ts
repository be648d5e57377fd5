/** What holds for the plan of any node, however odd its pods, its figures and what is known of them. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ascending } from '../../lib/ascending.ts';
import type { AllocationPod, CpuSize } from './allocation-pod.ts';
import { chargedCpu, sizeOf } from './allocation-pod.ts';
import { clampReasons } from './clamp.ts';
import type { NodeInput, NodePlan, NodePod } from './node-input.ts';
import { planNode } from './plan-node.ts';
import type { ApplyMode } from './rules.ts';
import { isResizing } from './seat.ts';
import { defaultNoise, noisyPod } from './testing/noisy-pods.ts';
import { T0, testInput, testNode, testRules } from './testing/pods.ts';

const condition = fc.record({
  type: fc.constantFrom('Ready' as const, 'MemoryPressure' as const, 'DiskPressure' as const, 'PIDPressure' as const),
  status: fc.constantFrom('True' as const, 'False' as const, 'Unknown' as const),
  since: fc.option(fc.integer({ min: T0 - 100_000, max: T0 }), { nil: undefined }),
});
const anyNode = fc.record({
  allocatable: fc.integer({ min: 0, max: 8000 }),
  systemUse: fc.option(fc.integer({ min: 0, max: 2000 }), { nil: undefined }),
  conditions: fc.oneof(
    { weight: 4, arbitrary: fc.constant(testNode().conditions) },
    { weight: 1, arbitrary: fc.option(fc.array(condition, { maxLength: 4 }), { nil: undefined }) },
  ),
});
const anyRules = fc.record({
  apply: fc.constantFrom('requests+ceilings' as const, 'limits' as const, 'observe' as const),
  ceilings: fc.constantFrom('greedy' as const, 'all' as const, 'existing' as const, 'none' as const),
  disagreement: fc.constantFrom('claim' as const, 'zero' as const),
  overload: fc.constantFrom('weights' as const, 'tiers' as const),
  quantum: fc.constantFrom(1 as const, 10 as const),
  userLimits: fc.constantFrom('keep' as const, 'lift' as const),
});
const anyInput: fc.Arbitrary<NodeInput> = fc
  .record({
    pods: fc.array(noisyPod(defaultNoise), { maxLength: 8 }),
    node: anyNode,
    rules: anyRules,
    room: fc.option(fc.integer({ min: 0, max: 2000 }), { nil: undefined }),
  })
  .map(({ pods, node, rules, room }) =>
    testInput(
      pods.map((each, index) => rename(each, index)),
      {
        node: testNode(node),
        rules: { ...testRules, ...rules },
        ...(room !== undefined && {
          quotas: new Map([['shop', { room: { cpuRequest: room, cpuLimit: room }, nodeShare: 1 }]]),
        }),
      },
    ),
  );

function rename(each: NodePod, index: number): NodePod {
  return { ...each, pod: { ...each.pod, uid: `uid-${index}`, name: `pod-${index}` } };
}
const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
const holds = (rule: (plan: NodePlan, input: NodeInput) => void, numRuns = 500): void =>
  fc.assert(
    fc.property(anyInput, (input) => rule(planNode(input), input)),
    { numRuns },
  );
/** Of what is bargained for. */
const heldOf = ({ request, limit = request }: CpuSize, apply: ApplyMode): number =>
  apply === 'limits' ? limit : request;
const podOf = ({ pods }: NodeInput, uid: string): AllocationPod | undefined =>
  pods.find(({ pod }) => pod.uid === uid)?.pod;

describe('for any node', () => {
  test('every figure is a number, every size a whole one above zero', () => {
    holds(({ pods, fairness, capacity }) => {
      expect(Number.isInteger(capacity)).toBe(true);
      expect(fairness.jain).toBeGreaterThan(0);
      expect(fairness.jain).toBeLessThanOrEqual(1 + 1e-9);
      for (const { share, target, weight, want } of pods) {
        for (const value of [share, target.request, target.limit ?? 1]) {
          expect(Number.isInteger(value)).toBe(true);
          expect(value).toBeGreaterThan(0);
        }
        expect(weight).toBeGreaterThan(0);
        expect(Number.isFinite(weight) && Number.isFinite(want)).toBe(true);
      }
    });
  });

  test('shares add up to no more than the steady sum, or to what the pods have where that cannot be lowered', () => {
    holds(({ pods, steadySum, isOvercommitted }, { rules: { apply, quantum } }) => {
      const shares = sum(pods.map(({ share }) => share));
      if (!isOvercommitted) expect(shares).toBeLessThanOrEqual(steadySum);
      const there = pods.map(({ current }) => quantum * Math.ceil(Math.max(10, heldOf(current, apply)) / quantum));
      expect(shares).toBeLessThanOrEqual(Math.max(steadySum, sum(there)));
    });
  });

  test('what cannot be lowered is not, not even on paper, where it would be counted on', () => {
    let kept = 0;
    holds(({ pods }, input) => {
      const ready = input.node.conditions?.find(({ type }) => type === 'Ready');
      for (const { uid, share, current } of pods) {
        const { pod, measured, hints } = input.pods.find((each) => each.pod.uid === uid) ?? never();
        const isStill = ready?.status !== 'True' || measured === undefined || hints === 'unknown' || isResizing(pod);
        if (!isStill) continue;
        kept++;
        expect(share).toBeGreaterThanOrEqual(heldOf(current, input.rules.apply));
      }
    });
    expect(kept).toBeGreaterThan(100);
  });

  test('every pod is either planned for or left out with a reason', () => {
    holds(({ pods, unmanaged }, input) => {
      const seen = [...pods.map(({ uid }) => uid), ...unmanaged.map(({ uid }) => uid)].sort(ascending);
      expect(seen).toEqual(input.pods.map(({ pod }) => pod.uid).sort(ascending));
    });
  });

  test('what is left out keeps what it is charged with', () => {
    holds(({ capacity, steadySum, unmanaged }, input) => {
      const others = sum(unmanaged.map(({ uid }) => chargedCpu(podOf(input, uid) ?? input.pods[0]?.pod ?? never())));
      expect(Math.max(capacity, steadySum)).toBeLessThanOrEqual(Math.max(0, input.node.allocatable - others));
    });
  });

  test('nothing is written for a pod that was not measured, nor on a node that is not known to be Ready', () => {
    holds(({ writes }, input) => {
      const ready = input.node.conditions?.find(({ type }) => type === 'Ready');
      if (ready?.status !== 'True') expect(writes).toEqual([]);
      for (const { uid } of writes) {
        expect(input.pods.find(({ pod }) => pod.uid === uid)?.measured).toBeDefined();
      }
    });
  });

  test('no write changes a QoS class, removes a limit or goes below what the kernel takes', () => {
    holds(({ writes }, input) => {
      for (const { uid, target } of writes) {
        const pod = podOf(input, uid) ?? never();
        const { limit } = sizeOf(pod);
        if (pod.qos === 'Guaranteed') expect(target.request).toBe(target.limit);
        else expect(target.request).toBeLessThan(target.limit ?? Number.POSITIVE_INFINITY);
        if (limit !== undefined) expect(target.limit).toBeDefined();
        if (target.limitPolicy !== 'Keep') expect(target.limit).toBeGreaterThanOrEqual(10);
      }
    });
  });

  test('clamps name known rules and what they moved', () => {
    holds(({ pods, clamps }) => {
      for (const { reason, before, after } of [...clamps, ...pods.flatMap((each) => each.clamps)]) {
        expect(clampReasons).toContain(reason);
        expect(after).not.toBe(before);
      }
    });
  });

  test('P12: the order of pods does not matter', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        expect(planNode({ ...input, pods: [...input.pods].reverse() })).toEqual(planNode(input));
      }),
      { numRuns: 300 },
    );
  });

  test('P17: whoever is not written has a reason, and whoever is written has none', () => {
    holds(({ pods, writes }) => {
      expect(pods.filter(({ isWritten }) => isWritten)).toHaveLength(writes.length);
      for (const { isWritten, held } of pods) expect(held === undefined).toBe(isWritten);
    });
  });
});

function never(): never {
  throw new Error('the plan names a pod that is not on the node');
}
