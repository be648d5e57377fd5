import { expect, test } from 'vitest';
import { aQuota } from '../model/testing/sizing-records.ts';
import { createAllocationMemory } from './allocation-memory.ts';

test('a restart is remembered for the life of the pod', () => {
  const memory = createAllocationMemory();
  memory.noteRestart('a');
  expect([memory.hasRestarted('a'), memory.hasRestarted('b')]).toEqual([true, false]);
  memory.forget('a');
  expect(memory.hasRestarted('a')).toBe(false);
});

test('a quota that denied is not asked for a minute, unless it changes', () => {
  const memory = createAllocationMemory();
  const quotas = [aQuota({ hard: { cpuRequest: 1000 }, used: { cpuRequest: 900 } })];
  memory.noteQuotaDenied('shop', quotas, 0);
  expect(memory.isQuotaDenied('shop', quotas, 59_000)).toBe(true);
  expect(memory.isQuotaDenied('other', quotas, 0)).toBe(false);
  const changed = [aQuota({ hard: { cpuRequest: 1000 }, used: { cpuRequest: 500 } })];
  expect(memory.isQuotaDenied('shop', changed, 1000)).toBe(false);
  // Forgotten with the change.
  expect(memory.isQuotaDenied('shop', quotas, 2000)).toBe(false);
  memory.noteQuotaDenied('shop', quotas, 0);
  expect(memory.isQuotaDenied('shop', quotas, 60_000)).toBe(false);
});
