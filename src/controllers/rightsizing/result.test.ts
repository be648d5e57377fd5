import { expect, test } from 'vitest';
import { brokenResult, type WorkloadResult } from './result.ts';

const web = { kind: 'Deployment', namespace: 'shop', name: 'web' };

test('a workload that cannot be looked at fails in the status, whatever was known of it', () => {
  expect(brokenResult(web, 'boom', undefined)).toMatchObject({
    entry: { ...web, status: 'Error', reason: 'ProcessingFailed', message: expect.stringContaining('boom') },
    advice: [],
    hasUsage: false,
    failure: 'boom',
  });
});

test('what was advised before stays to be read, and counts as known', () => {
  const before: WorkloadResult = {
    ...brokenResult(web, 'earlier', undefined),
    entry: { ...web, status: 'Applied', reason: 'WithinMinChange', recommendations: [{ container: 'app', cpu: '1' }] },
    saving: { cpuMillis: 700, memoryBytes: 5 },
    hasUsage: true,
    failure: undefined,
  };
  expect(brokenResult(web, 'boom', before)).toMatchObject({
    entry: { status: 'Error', reason: 'ProcessingFailed', recommendations: [{ container: 'app', cpu: '1' }] },
    saving: { cpuMillis: 700 },
    hasUsage: true,
    failure: 'boom',
  });
});
