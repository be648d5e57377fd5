import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PolicyCondition } from '../../api/optimization-policy-status.ts';
import { NOON } from '../../model/testing/records.ts';
import { type PolicyFacts, policyConditions } from './policy-conditions.ts';
import { policyFacts } from './testing/policy-facts.ts';

const web = { kind: 'Deployment', namespace: 'shop', name: 'web' };
const of = (changes: Partial<PolicyFacts>, previous: readonly PolicyCondition[] = [], now = NOON) => {
  const conditions = policyConditions(policyFacts(changes), previous, now);
  return (type: string) => conditions.find((each) => each.type === type);
};

describe('conditions', () => {
  test('of a policy that is well', () => {
    expect(policyConditions(policyFacts(), [], NOON).map(({ type, status, reason }) => [type, status, reason])).toEqual(
      [
        ['Ready', 'True', 'PolicyValid'],
        ['MetricsAvailable', 'True', 'UsageKnown'],
        ['DryRun', 'False', 'Acting'],
        ['PermissionsSufficient', 'True', 'PermissionsGranted'],
        ['Degraded', 'False', 'AllWell'],
        ['ActuationIneffective', 'False', 'ActuationEffective'],
      ],
    );
  });

  test('an invalid policy only says what is wrong with it', () => {
    const conditions = policyConditions(policyFacts({ problems: ['min is above max', 'no selector'] }), [], NOON);
    expect(conditions).toHaveLength(1);
    expect(conditions[0]).toMatchObject({
      type: 'Ready',
      status: 'False',
      reason: 'ValidationFailed',
      observedGeneration: 3,
    });
    expect(conditions[0]?.message).toContain('min is above max; no selector');
    expect(conditions[0]?.message).toContain('Suggestion: ');
  });

  test.each<[string, Partial<PolicyFacts>, string, string, string]>([
    [
      'the source is down',
      { metricsProblem: { workload: web, cause: 'refused' } },
      'MetricsAvailable',
      'False',
      'MetricsCollectionFailed',
    ],
    ['nothing is known yet', { withUsage: 0 }, 'MetricsAvailable', 'False', 'NoData'],
    ['nothing to be known', { withUsage: 0, owned: 0 }, 'MetricsAvailable', 'True', 'UsageKnown'],
    ['shielded: nobody asks', { mode: 'Disabled', withUsage: 0, owned: 4 }, 'MetricsAvailable', 'True', 'UsageKnown'],
    ['dry-run', { dryRun: true }, 'DryRun', 'True', 'DryRunActive'],
    [
      'forbidden',
      { forbidden: { workload: web, cause: 'cannot patch' } },
      'PermissionsSufficient',
      'False',
      'RBACError',
    ],
    [
      'rightsizing bug 4: one resource of two is not read any more',
      { stale: { workload: web, cause: 'memory of container app' } },
      'MetricsAvailable',
      'False',
      'Stale',
    ],
    [
      'rightsizing bug 9: changes that change nothing',
      { ineffective: [{ workload: web, cause: '3 changes in a row' }] },
      'ActuationIneffective',
      'True',
      'ActuationIneffective',
    ],
    ['a workload fails', { failing: [{ workload: web, cause: 'broken' }] }, 'Degraded', 'True', 'WorkloadsFailing'],
  ])('%s', (_, changes, type, status, reason) => {
    expect(of(changes)(type)).toMatchObject({ status, reason });
  });

  test('usage of another provider than the policy names is usage, and yet something to mend', () => {
    const fallback = { provider: 'metrics-server', cause: 'no such source' };
    expect(of({ fallback })('MetricsAvailable')).toMatchObject({
      status: 'True',
      reason: 'UsageFromFallback',
      message: expect.stringMatching(/metrics-server.*no such source\. Suggestion: /),
    });
    const metricsProblem = { workload: web, cause: 'refused' };
    expect(of({ fallback, metricsProblem })('MetricsAvailable')?.reason).toBe('MetricsCollectionFailed');
  });

  test('what is valid and yet rarely meant is told with Ready', () => {
    expect(of({ owned: 0, warnings: ['no kind is left', 'deny counts'] })('Ready')).toMatchObject({
      status: 'True',
      reason: 'PolicyValid',
      message: 'The policy is valid and in force for 0 workloads; no kind is left; deny counts',
    });
  });

  test('of a warning that names a whole cluster the beginning is told, and the next one as well', () => {
    const names = Array.from({ length: 4_000 }, (_, index) => `team-${index}`).join(', ');
    const { message = '' } = of({ warnings: [`allow names ${names}`, 'deny counts'] })('Ready') ?? {};
    expect(message).toMatch(/; allow names team-0, team-1, .*; deny counts$/);
    expect(message.length).toBeLessThan(2_000);
  });

  test('what is not well says what to do', () => {
    expect(of({ forbidden: { workload: web, cause: 'cannot patch' } })('PermissionsSufficient')?.message).toMatch(
      /Deployment shop\/web: cannot patch\. Suggestion: Grant/,
    );
    expect(of({ failing: [{ workload: web, cause: 'broken' }] })('Degraded')?.message).toContain('Suggestion: ');
  });

  test('optipod defect B23: the time of a condition changes with its status only', () => {
    const before = policyConditions(policyFacts(), [], NOON);
    const later = of({ owned: 9, withUsage: 5 }, before, NOON + 60_000)('Ready');
    expect(later?.lastTransitionTime).toBe('2026-03-02T12:00:00Z');
    expect(later?.message).toContain('9 workloads');
    expect(of({ withUsage: 0 }, before, NOON + 60_000)('MetricsAvailable')?.lastTransitionTime).toBe(
      '2026-03-02T12:01:00Z',
    );
  });

  test('optipod defect B14: Ready does not hide that a source or a right is missing', () => {
    const told = of({ metricsProblem: { workload: web, cause: 'x' }, forbidden: { workload: web, cause: 'y' } });
    expect([told('MetricsAvailable')?.status, told('PermissionsSufficient')?.status]).toEqual(['False', 'False']);
  });

  test('for any facts, every condition has a generation, a reason and a sentence', () => {
    fc.assert(
      fc.property(fc.boolean(), fc.nat(5), fc.nat(5), fc.nat(99), (dryRun, owned, withUsage, generation) => {
        for (const condition of policyConditions(policyFacts({ dryRun, owned, withUsage, generation }), [], NOON)) {
          expect(condition.observedGeneration).toBe(generation);
          expect(condition.reason).toMatch(/^[A-Z][A-Za-z]+$/);
          expect(condition.message).not.toMatch(/[{}]/);
        }
      }),
      { numRuns: 100 },
    );
  });
});
