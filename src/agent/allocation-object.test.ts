import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { podAllocationSpecSchema } from '../api/pod-allocation-schema.ts';
import { planNode } from '../decide/allocation/plan-node.ts';
import { testInput, testPod } from '../decide/allocation/testing/pods.ts';
import { allocationObject, decisionOf, desiredOf, isSameDesired, keepingDesired } from './allocation-object.ts';

const pod = { uid: 'u-1', namespace: 'shop', name: 'web' };

describe('what a pod should have', () => {
  test.each([
    [{ request: 250, limit: 500, limitPolicy: 'Apply' }, '250m', '500m'],
    [{ request: 250, limit: undefined, limitPolicy: 'Keep' }, '250m', '4000m'],
    [{ request: 250, limit: 200, limitPolicy: 'Apply' }, '250m', '250m'],
    [{ request: 0, limit: undefined, limitPolicy: 'Keep' }, '1m', '4000m'],
    [{ request: 99.6, limit: 120.2, limitPolicy: 'Lift' }, '100m', '120m'],
  ] as const)('%j', (target, request, limit) => {
    expect(desiredOf(target, 4000, false)).toMatchObject({ desiredCPURequest: request, desiredCPULimit: limit });
  });

  test('whatever the plan says, the API takes it', () => {
    const amount = fc.double({ min: 0, max: 1e6, noNaN: true });
    const policy = fc.constantFrom('Apply' as const, 'Lift' as const, 'Keep' as const);
    fc.assert(
      fc.property(
        amount,
        fc.option(amount, { nil: undefined }),
        policy,
        amount,
        (request, limit, limitPolicy, allocatable) => {
          const desired = desiredOf({ request, limit, limitPolicy }, allocatable, true);
          const { spec } = allocationObject({
            pod,
            nodeName: 'n',
            desired,
            original: { request, limit },
            decision: undefined,
            now: 0,
          });
          expect(podAllocationSpecSchema.safeParse(spec).success).toBe(true);
        },
      ),
    );
  });

  test('two wishes are the same by what they ask for, not by how urgent they are', () => {
    const wish = desiredOf({ request: 100, limit: 200, limitPolicy: 'Apply' }, 4000, false);
    expect(isSameDesired(wish, { ...wish, urgent: true })).toBe(true);
    expect(isSameDesired(wish, { ...wish, desiredCPULimit: '300m' })).toBe(false);
    expect(isSameDesired(wish, { ...wish, limitPolicy: 'Lift' })).toBe(false);
    const { limitPolicy: _, ...shipped } = wish;
    expect(isSameDesired(wish, shipped)).toBe(true);
  });

  test('where limits stay as they are, their figure does not matter', () => {
    const keep = keepingDesired({ request: 100, limit: undefined }, 4000);
    expect(isSameDesired(keep, { ...keep, desiredCPULimit: '8000m' })).toBe(true);
  });
});

describe('the numbers behind it', () => {
  const measured = {
    usage: 123.4,
    throttledRatio: 0.12345,
    pressure: 0.1,
    containers: [
      { name: 'main', usage: 100.4, throttledRatio: 0.12345 },
      { name: 'log', usage: 23 },
    ],
  };
  const plan = planNode(testInput([{ pod: testPod('web', { request: 100 }), measured }]));
  const [first] = plan.pods;
  if (first === undefined) throw new Error('the pod takes part');

  test('are rounded, and fit the API', () => {
    const decision = decisionOf(first, plan, measured);
    expect(decision).toMatchObject({
      cpuUsage: '123m',
      throttledRatio: 0.123,
      containers: [
        { name: 'main', cpuUsage: '100m', throttledRatio: 0.123 },
        { name: 'log', cpuUsage: '23m' },
      ],
    });
    const desired = keepingDesired(first.current, 4000);
    const { spec } = allocationObject({ pod, nodeName: 'n', desired, original: undefined, decision, now: 0 });
    expect(podAllocationSpecSchema.safeParse(spec)).toMatchObject({ success: true });
  });

  test('a price without bound is left out: JSON has no word for it', () => {
    const decision = decisionOf(first, { ...plan, shadowPrice: Number.POSITIVE_INFINITY }, undefined);
    expect(decision).not.toHaveProperty('shadowPriceCPU');
    expect(decision).not.toHaveProperty('cpuUsage');
  });
});
