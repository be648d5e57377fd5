import { describe, expect, test } from 'vitest';
import { brokenResult } from '../../controllers/rightsizing/result.ts';
import { createResultStore } from '../../controllers/rightsizing/result-store.ts';
import { policyRecord } from '../../model/testing/policies.ts';
import { operatorTold, stormTold, unreadTold } from './overview.ts';

const operator = () => ({
  identity: 'a',
  isLeader: true,
  readOnly: false,
  engines: { placement: true, rightsizing: true, allocation: false },
});
const view = { freshness: () => ({ synced: true, stale: ['pods'] }) };

describe('what is told of the operator', () => {
  test('stores whose watch is broken are told, those of the engines that size, too', () => {
    const sizingView = { freshness: () => ({ synced: false, stale: ['pods', 'limit ranges'] }) };
    expect(operatorTold({ operator, view, sizingView })).toMatchObject({
      synced: false,
      stale: ['pods', 'limit ranges'],
    });
    expect(operatorTold({ operator, view, sizingView: undefined })).toMatchObject({ synced: true, stale: ['pods'] });
  });
});

test('a storm is told with when it will be calm, in the words of the block', () => {
  expect(stormTold(undefined)).toBeUndefined();
  expect(stormTold({ lost: 7, calmAt: Date.UTC(2026, 5, 1) })).toEqual({
    reason: 'StormCalm',
    message: '7 spot nodes were lost within a short time; no pod is moved before 2026-06-01T00:00:00.000Z',
    advice: 'Nothing to do.',
  });
});

test('usage that cannot be read is told: of how many workloads, and why that of one', () => {
  const results = createResultStore();
  for (const name of ['web', 'api', 'db'])
    results.set(name, brokenResult({ kind: 'Deployment', namespace: 'shop', name }, 'no', undefined));
  const told = () =>
    unreadTold({ policies: () => [policyRecord()], bookOf: () => ({ results, discovered: {}, owned: 3 }) });
  expect(told()).toBeUndefined();
  for (const name of ['web', 'api']) {
    const result = results.get(name);
    if (result !== undefined) results.set(name, { ...result, metricsProblem: 'nobody answers' });
  }
  expect(told()).toEqual({ workloads: 2, why: 'nobody answers' });
});
