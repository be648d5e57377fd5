import { expect, test } from 'vitest';
import { aQuota } from '../../model/testing/sizing-records.ts';
import { createAllocationMemory } from './memory.ts';

test('a restart is remembered for the life of the pod, and so is a node that pins its CPUs', () => {
  const memory = createAllocationMemory();
  const known = (): boolean[] => [
    memory.hasRestarted('a'),
    memory.hasRestarted('b'),
    memory.isPinned('a'),
    memory.isPinned('b'),
  ];
  memory.noteRestart('a');
  memory.notePinned('b');
  expect(known()).toEqual([true, false, false, true]);
  memory.forget('a');
  memory.forget('b');
  expect(known()).toEqual([false, false, false, false]);
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

test('of namespaces that come and go, what is over is forgotten with the next denial', () => {
  const memory = createAllocationMemory();
  const quotas = [aQuota({ hard: { cpuRequest: 1000 }, used: { cpuRequest: 900 } })];
  memory.noteQuotaDenied('a', quotas, 0);
  memory.noteQuotaDenied('b', quotas, 30_000);
  memory.noteQuotaDenied('c', quotas, 60_000);
  // Asked at a moment at which all of them would still hold.
  expect(['a', 'b', 'c'].map((namespace) => memory.isQuotaDenied(namespace, quotas, 59_000))).toEqual([
    false,
    true,
    true,
  ]);
});
