import { expect, test } from 'vitest';
import type { PodAllocationStatus } from '../../api/pod-allocation.ts';
import { createLogger } from '../../lib/log.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import type { AllocationRecord } from '../../observe/project-allocation.ts';
import { type AllocationReportsOptions, createAllocationReports } from './reports.ts';

/** Allocations without pods, of a definition that knows nothing of the reason. */
function setUp() {
  const clock = createVirtualClock(Date.UTC(2026, 0, 1));
  const warnings: string[] = [];
  const written: string[] = [];
  const present = new Map<string, AllocationRecord>();
  const removed: ((record: AllocationRecord) => void)[] = [];
  const record = (name: string, uid = `uid-${name}`): AllocationRecord =>
    ({ namespace: 'shop', name, uid, generation: 1, podName: name, spec: {}, status: {} }) as AllocationRecord;
  const reports = createAllocationReports({
    stores: {
      get: (_: string, name: string) => present.get(name),
      onChange(listener: (before: AllocationRecord | undefined, after: AllocationRecord | undefined) => void) {
        removed.push((gone) => listener(gone, undefined));
        return () => {};
      },
    },
    async writeStatus({ name }: AllocationRecord, status: PodAllocationStatus) {
      written.push(`${name} ${status.reason}`);
      return { result: 'written', pruned: 'reason' };
    },
    clock,
    log: createLogger({ level: 'warn', format: 'text', clock, write: (line) => warnings.push(line) }),
  } as unknown as AllocationReportsOptions);
  const { signal } = new AbortController();
  return {
    written,
    warnings,
    add: (...args: Parameters<typeof record>) => void present.set(args[0], record(...args)),
    look: (...args: Parameters<typeof record>) => reports.writeLost(record(...args), signal),
    remove(name: string) {
      for (const listener of removed) listener(record(name));
    },
  };
}

test('a status of which the definition drops a part is written once, and told once', async () => {
  const { written, warnings, add, look } = setUp();
  for (const name of ['a', 'b']) add(name);
  for (const name of ['a', 'b', 'a', 'b']) expect(await look(name)).toBe(true);
  expect(written).toEqual(['a PodNotFound', 'b PodNotFound']);
  expect(warnings).toHaveLength(1);
});

test('what was written is forgotten with the allocation, and only then', async () => {
  const { written, warnings, add, look, remove } = setUp();
  for (const name of ['a', 'b']) add(name);
  for (const name of ['a', 'b']) await look(name);
  remove('a');
  for (const name of ['a', 'b']) await look(name);
  expect(written).toEqual(['a PodNotFound', 'b PodNotFound', 'a PodNotFound']);
  expect(warnings).toHaveLength(1);
});
