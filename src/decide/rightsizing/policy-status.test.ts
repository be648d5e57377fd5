import { describe, expect, test } from 'vitest';
import { policyRecord, validPolicy } from '../../model/testing/policies.ts';
import { NOON } from '../../model/testing/records.ts';
import { type ListedWorkload, policyStatus, type StatusInput } from './policy-status.ts';

const listed = (name: string, worth: number): ListedWorkload => {
  const of = { name, namespace: 'shop', kind: 'Deployment' };
  return { of, entry: () => ({ ...of, status: 'Recommended' }), worth };
};
const input = (changes: Partial<StatusInput> = {}): StatusInput => ({
  facts: {
    mode: 'Auto',
    dryRun: false,
    owned: 2,
    withUsage: 1,
    metricsProblem: undefined,
    forbidden: undefined,
    failing: [],
  },
  discovered: { Deployment: 2, StatefulSet: 1, CronJob: 1 },
  processed: 3,
  workloads: [listed('a', 1), listed('b', 5)],
  ...changes,
});
const policy = validPolicy();

describe('the status of a policy', () => {
  test('has the counts OptiPod has, and the largest saving first', () => {
    const status = policyStatus(policy, input(), NOON);
    expect(status).toMatchObject({
      workloadsDiscovered: 4,
      workloadsProcessed: 3,
      workloadsByType: { deployments: 2, statefulSets: 1, daemonSets: 0 },
      lastReconciliation: '2026-03-02T12:00:00Z',
      observedGeneration: policy.generation,
    });
    expect(status.workloads?.map(({ name }) => name)).toEqual(['b', 'a']);
    expect(status).not.toHaveProperty('workloadsOmitted');
  });

  test('lists 200 and counts the rest', () => {
    const many = Array.from({ length: 250 }, (_, index) => listed(`w${index}`, index));
    const status = policyStatus(policy, input({ workloads: many }), NOON);
    expect(status.workloads).toHaveLength(200);
    expect(status.workloads?.[0]?.name).toBe('w249');
    expect(status.workloadsOmitted).toBe(50);
  });

  test('lists fewer where they are large: an object of more than 1.5 MiB could not be written at all', () => {
    const recommendations = Array.from({ length: 40 }, (_, index) => ({
      container: `c${index}`,
      cpu: '100m',
      explanation: 'y'.repeat(700),
    }));
    const large = Array.from({ length: 150 }, (_, index): ListedWorkload => {
      const { of, worth } = listed(`w${index}`, -index);
      return { of, worth, entry: () => ({ ...of, status: 'Recommended', recommendations }) };
    });
    const status = policyStatus(policy, input({ workloads: large }), NOON);
    const { length } = status.workloads ?? [];
    expect(Buffer.byteLength(JSON.stringify(status))).toBeLessThan(1_200_000);
    expect(length).toBeGreaterThan(20);
    expect(status.workloads?.map(({ name }) => name)).toEqual(Array.from({ length }, (_, index) => `w${index}`));
    expect(length + (status.workloadsOmitted ?? 0)).toBe(150);
  });

  test('optipod defect B11: a policy that is not valid says so and keeps what was known', () => {
    const broken = policyRecord({ spec: { mode: 'Sometimes' } });
    const status = policyStatus({ ...broken, status: { workloadsDiscovered: 7 } }, undefined, NOON);
    expect(status.workloadsDiscovered).toBe(7);
    expect(status.conditions?.[0]).toMatchObject({ type: 'Ready', status: 'False', reason: 'ValidationFailed' });
  });

  test('what another policy sizes is counted, and neither in force here nor missing from usage', () => {
    const lost = input({ workloads: [], processed: 0 });
    const status = policyStatus(policy, { ...lost, facts: { ...lost.facts, owned: 0, withUsage: 0 } }, NOON);
    expect(status.workloadsDiscovered).toBe(4);
    const [ready, metrics] = status.conditions ?? [];
    expect(ready).toMatchObject({ type: 'Ready', status: 'True' });
    expect(ready?.message).toContain('0 workloads');
    expect(metrics).toMatchObject({ type: 'MetricsAvailable', status: 'True', reason: 'UsageKnown' });
  });

  test('a status of another hand is no obstacle', () => {
    const odd = { ...policy, status: { conditions: 'none' } as never };
    expect(policyStatus(odd, input(), NOON).conditions).toHaveLength(6);
  });
});
