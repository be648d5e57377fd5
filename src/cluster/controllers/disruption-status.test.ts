import { describe, expect, test } from 'vitest';
import type { Pod, PodDisruptionBudget } from '../../api/core.ts';
import { type BudgetInput, budgetStatus, DELETION_TIMEOUT_MILLIS } from './disruption-status.ts';

const NOW = Date.UTC(2026, 5, 1);

const pod = (name: string, isReady = true, isLeaving = false): Pod => ({
  metadata: { name, ...(isLeaving ? { deletionTimestamp: '2026-06-01T00:00:00Z' } : {}) },
  status: { conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
});
const pods = (ready: number, unready = 0): Pod[] => [
  ...Array.from({ length: ready }, (_, index) => pod(`ready-${index}`)),
  ...Array.from({ length: unready }, (_, index) => pod(`unready-${index}`, false)),
];
const statusOf = (spec: PodDisruptionBudget['spec'], more: Partial<BudgetInput> = {}) =>
  budgetStatus({
    budget: { metadata: { generation: 4 }, spec: spec ?? {} },
    pods: pods(10),
    expectedScale: 10,
    nowMillis: NOW,
    ...more,
  }).status;

describe('budgetStatus', () => {
  // expected pods, desired healthy, current healthy, allowed
  test.each<[string, PodDisruptionBudget['spec'], Partial<BudgetInput>, [number, number, number, number]]>([
    ['maxUnavailable 1', { maxUnavailable: 1 }, {}, [10, 9, 10, 1]],
    ['maxUnavailable 25 % rounds up', { maxUnavailable: '25%' }, {}, [10, 7, 10, 3]],
    ['maxUnavailable 0', { maxUnavailable: 0 }, {}, [10, 10, 10, 0]],
    [
      'maxUnavailable counts against the scale, not the pods there are',
      { maxUnavailable: 1 },
      { pods: pods(8) },
      [10, 9, 8, 0],
    ],
    ['maxUnavailable above the scale', { maxUnavailable: 20 }, {}, [10, 0, 10, 10]],
    ['minAvailable 9', { minAvailable: 9 }, {}, [10, 9, 10, 1]],
    [
      'minAvailable as a number counts the pods there are',
      { minAvailable: 3 },
      { pods: pods(5), expectedScale: { problem: 'no scale' } },
      [5, 3, 5, 2],
    ],
    ['minAvailable 75 % rounds up', { minAvailable: '75%' }, {}, [10, 8, 10, 2]],
    ['minAvailable 100 %', { minAvailable: '100%' }, {}, [10, 10, 10, 0]],
    ['unready pods are not healthy', { minAvailable: 7 }, { pods: pods(8, 2) }, [10, 7, 8, 1]],
    ['terminating pods are not healthy', { minAvailable: 1 }, { pods: [pod('a'), pod('b', true, true)] }, [2, 1, 1, 0]],
    ['no pods', { maxUnavailable: 1 }, { pods: [], expectedScale: 0 }, [0, 0, 0, 0]],
    ['neither is given: nothing may go', {}, {}, [0, 0, 10, 0]],
  ])('%s', (_, spec, more, [expectedPods, desiredHealthy, currentHealthy, disruptionsAllowed]) => {
    expect(statusOf(spec, more)).toMatchObject({
      expectedPods,
      desiredHealthy,
      currentHealthy,
      disruptionsAllowed,
      observedGeneration: 4,
    });
  });

  test('a percentage without a scale allows nothing and says so', () => {
    const known = {
      currentHealthy: 5,
      desiredHealthy: 3,
      disruptionsAllowed: 2,
      expectedPods: 6,
      observedGeneration: 3,
    };
    const budget = { metadata: { generation: 4 }, spec: { minAvailable: '50%' }, status: known };
    const status = statusOf({}, { budget, expectedScale: { problem: 'found no controllers for pod "a"' } });
    expect(status).toEqual({
      ...known,
      disruptionsAllowed: 0,
      conditions: [
        expect.objectContaining({
          type: 'DisruptionAllowed',
          status: 'False',
          reason: 'SyncFailed',
          message: 'found no controllers for pod "a"',
          observedGeneration: 3,
        }),
      ],
    });
  });

  test.each([
    [1, 'True', 'SufficientPods'],
    [0, 'False', 'InsufficientPods'],
  ])('with %i allowed the condition is %s', (maxUnavailable, status, reason) => {
    expect(statusOf({ maxUnavailable }).conditions?.[0]).toMatchObject({ status, reason, observedGeneration: 4 });
  });

  describe('a granted eviction', () => {
    const since = new Date(NOW - 10_000).toISOString();
    const budget = (names: string[]): PodDisruptionBudget => ({
      metadata: { generation: 1 },
      spec: { minAvailable: 8 },
      status: {
        currentHealthy: 0,
        desiredHealthy: 0,
        disruptionsAllowed: 0,
        expectedPods: 0,
        disruptedPods: Object.fromEntries(names.map((name) => [name, since])),
      },
    });
    test('counts as unhealthy until the pod is terminating', () => {
      const { status, recheckAfterMillis } = budgetStatus({
        budget: budget(['ready-0']),
        pods: pods(10),
        expectedScale: 10,
        nowMillis: NOW,
      });
      expect(status).toMatchObject({ currentHealthy: 9, disruptionsAllowed: 1, disruptedPods: { 'ready-0': since } });
      expect(recheckAfterMillis).toBe(DELETION_TIMEOUT_MILLIS - 10_000);
    });
    test('is forgotten once the pod is terminating, gone, or the deletion is overdue', () => {
      const leaving = [pod('ready-0', true, true), ...pods(10).slice(1)];
      expect(
        budgetStatus({ budget: budget(['ready-0']), pods: leaving, expectedScale: 10, nowMillis: NOW }).status
          .disruptedPods,
      ).toBeUndefined();
      expect(
        budgetStatus({ budget: budget(['gone']), pods: pods(10), expectedScale: 10, nowMillis: NOW }).status
          .disruptedPods,
      ).toBeUndefined();
      const late = budgetStatus({
        budget: budget(['ready-0']),
        pods: pods(10),
        expectedScale: 10,
        nowMillis: NOW + DELETION_TIMEOUT_MILLIS,
      });
      expect(late.status).toMatchObject({ currentHealthy: 10, disruptionsAllowed: 2 });
    });
  });
});
