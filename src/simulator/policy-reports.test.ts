import { expect, test } from 'vitest';
import { createPolicyReports } from './policy-reports.ts';

const web = { key: 'shop/web', kind: 'Deployment' } as const;

/** As the API server answers with it. */
function policy(name: string, entry: object) {
  const workloads = [{ kind: 'Deployment', namespace: 'shop', name: 'web', ...entry }];
  return { metadata: { namespace: 'shop', name }, status: { workloads } };
}

test('tells the reason of the policy that has one, until it has none', () => {
  const reports = createPolicyReports();
  expect(reports.of(web)).toBeUndefined();
  reports.onStatus(policy('a', { status: 'Applied' }));
  reports.onStatus(policy('b', { status: 'Pending', reason: 'NodeHasNoRoom' }));
  expect(reports.of(web)).toBe('NodeHasNoRoom');
  expect(reports.of({ ...web, kind: 'StatefulSet' })).toBeUndefined();
  reports.onStatus(policy('b', { status: 'Applied' }));
  expect(reports.of(web)).toBeUndefined();
});

test.each([undefined, null, 'no', {}, { metadata: {}, status: { workloads: 'no' } }])('%j tells nothing', (answer) => {
  const reports = createPolicyReports();
  reports.onStatus(answer);
  expect(reports.of(web)).toBeUndefined();
});
