import { expect, test } from 'vitest';
import type { AllocationMode } from '../../api/pod-allocation.ts';
import { latestDecision } from './node-allocation.ts';

const record = (mode: AllocationMode | undefined, renewTime?: string) => ({
  spec: {
    namespace: 'shop',
    podName: 'a',
    desiredCPURequest: '1',
    desiredCPULimit: '1',
    ...(mode !== undefined && { decision: { mode } }),
    ...(renewTime !== undefined && { renewTime }),
  },
});

test('of a node counts what was written last', () => {
  const old = record('congested', '2026-01-31T12:00:00Z');
  const young = record('uncongested', '2026-01-31T12:00:09Z');
  expect(latestDecision([old, young])?.mode).toBe('uncongested');
  expect(latestDecision([young, old])?.mode).toBe('uncongested');
});

test('objects that do not say when, or nothing of a decision', () => {
  expect(latestDecision([])).toBeUndefined();
  expect(latestDecision([record(undefined, '2026-01-31T12:00:00Z')])).toBeUndefined();
  expect(latestDecision([record('overloaded'), record('congested', '2026-01-31T12:00:00Z')])?.mode).toBe('congested');
  expect(latestDecision([record('overloaded')])?.mode).toBe('overloaded');
});
