import { describe, expect, test } from 'vitest';
import { NOON } from '../../model/testing/records.ts';
import { policyConditions } from './policy-conditions.ts';
import { policyFacts } from './testing/policy-facts.ts';
import { unreadConditions } from './unread-conditions.ts';

const policy = policyFacts();
const well = policyConditions(policy, [], NOON);
const forbidden = { what: 'statefulSets', cause: 'cannot list statefulsets', isForbidden: true };

describe('a cluster that cannot be read', () => {
  test('for want of a right: both conditions, and the others stay', () => {
    const told = unreadConditions(policy, forbidden, well, NOON + 60_000);
    expect(told.map(({ type, status, reason }) => [type, status, reason])).toEqual([
      ['Ready', 'True', 'PolicyValid'],
      ['MetricsAvailable', 'True', 'UsageKnown'],
      ['DryRun', 'False', 'Acting'],
      ['ActuationIneffective', 'False', 'ActuationEffective'],
      ['PermissionsSufficient', 'False', 'ReadForbidden'],
      ['Degraded', 'True', 'DiscoveryFailed'],
    ]);
    expect(told.find(({ type }) => type === 'PermissionsSufficient')).toMatchObject({
      observedGeneration: 3,
      lastTransitionTime: '2026-03-02T12:01:00Z',
      message: expect.stringMatching(/insufficient permissions to read statefulSets: cannot list.*Suggestion: Grant/),
    });
  });

  test('for another cause: permissions are not doubted', () => {
    const told = unreadConditions(policy, { ...forbidden, isForbidden: false }, well, NOON);
    expect(told.find(({ type }) => type === 'PermissionsSufficient')?.status).toBe('True');
    expect(told.find(({ type }) => type === 'Degraded')).toMatchObject({ status: 'True', reason: 'DiscoveryFailed' });
  });

  test('of a policy that has no status yet', () => {
    expect(unreadConditions(policy, forbidden, [], NOON).map(({ type }) => type)).toEqual([
      'PermissionsSufficient',
      'Degraded',
    ]);
  });

  test('told again, the times stay', () => {
    const first = unreadConditions(policy, forbidden, well, NOON);
    expect(unreadConditions(policy, forbidden, first, NOON + 3_600_000)).toEqual(first);
  });
});
