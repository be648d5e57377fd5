import { expect, test } from 'vitest';
import type { PodAllocationStatus } from '../../api/pod-allocation.ts';
import { defaultAllocationRules } from '../../decide/allocation/rules.ts';
import { createLogger } from '../../lib/log.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import type { QuotaRecord } from '../../model/sizing-records.ts';
import { aNode } from '../../model/testing/records.ts';
import { aSizedPod } from '../../model/testing/sizing-records.ts';
import type { AllocationRecord } from '../../observe/project-allocation.ts';
import type { AllocatedPod } from './facts.ts';
import type { AllocationOutcome } from './outcome.ts';
import type { QuietPod, Sight } from './quiet-pods.ts';
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

const settled: AllocationOutcome = { kind: 'settled', clamps: [] };
const unknown: AllocationOutcome = { kind: 'held', reason: 'DataUnknown', message: '', retryAfterMillis: 1000 };

/** A pod that has the 200m it is to have. */
function setUpPod() {
  const pod = aSizedPod({ namespace: 'shop', name: 'web-rev1', uid: 'uid-web-rev1' }, 'web-1');
  const world = {
    found: { pod, sizing: pod.sizing },
    record: {
      namespace: 'shop',
      name: pod.uid,
      uid: 'uid-allocation',
      generation: 1,
      podName: pod.name,
      spec: { podName: pod.name, desiredCPURequest: '200m', desiredCPULimit: '400m', limitPolicy: 'Keep' },
      status: {},
    } as AllocationRecord,
    noted: [] as QuietPod[],
    /** Of its namespace, with an allocation each. */
    others: [] as AllocatedPod['found'][],
    quotas: [] as readonly QuotaRecord[],
    isKnown: true,
  };
  const podOf = (name: string) => [world.found, ...world.others].find((each) => each.pod.name === name);
  const records = () => [world.found, ...world.others].map((each) => ({ namespace: 'shop', podName: each.pod.name }));
  const clock = createVirtualClock(Date.UTC(2026, 0, 1));
  const reports = createAllocationReports({
    view: { pod: (_: string, name: string) => podOf(name), quotas: () => world.quotas },
    stores: { get: () => world.record, allIn: records, onChange: () => () => {} },
    facts: {
      of: (found: AllocatedPod['found']) => ({
        found,
        pod: { ...found.pod, ...found.sizing },
        facts: { limitRanges: world.isKnown ? [] : 'unknown', hpas: [], pdbs: [] },
        history: {},
      }),
    },
    quiet: { note: (quiet: QuietPod) => world.noted.push(quiet) },
    async writeStatus(_: AllocationRecord, status: PodAllocationStatus) {
      world.record = { ...world.record, status };
      return { result: 'written' };
    },
    settings: () => ({ rules: defaultAllocationRules }),
    adviceOf: () => 150,
    lastWriteAt: () => undefined,
    clock,
    log: createLogger({ level: 'warn', format: 'text', clock, write: () => {} }),
  } as unknown as AllocationReportsOptions);
  const node = aNode('n1', 'on-demand');
  const sight = { workload: undefined, bounds: [], state: { node } } as unknown as Sight;
  const { signal } = new AbortController();
  const tell = (outcome: AllocationOutcome, seen?: Sight): Promise<boolean> =>
    reports.write([{ record: world.record, pod, outcome, sight: seen }], signal);
  const write = async (seen: Sight | undefined = sight): Promise<readonly QuietPod[]> => {
    expect(await tell(settled, seen)).toBe(true);
    return world.noted.splice(0);
  };
  return { world, pod, sight, tell, write, clock };
}

test('a pod is quiet once its allocation says what there is to say, and not before', async () => {
  const { world, pod, sight, write } = setUpPod();
  expect(await write()).toEqual([]);
  expect(world.record.status.phase).toBe('Applied');
  expect(await write()).toEqual([{ ...sight, pod, record: world.record, advice: 150 }]);
});

test('a pod that changed since it was looked at is not quiet, and neither is one that never is', async () => {
  const { world, write } = setUpPod();
  await write();
  const other = { ...world.found.pod };
  world.found = { pod: other, sizing: other.sizing };
  expect(await write()).toEqual([]);
  expect(await write(undefined)).toEqual([]);
});

test.each([
  ['of a pod that was judged meanwhile', unknown],
  ['of one that was judged before', settled],
])('what is not known for some seconds, as after the end of an API server, is no news: %s', async (_, outcome) => {
  const { world, tell, write, clock } = setUpPod();
  await write();
  const { status } = world.record;
  for (const _round of [1, 2]) {
    world.isKnown = false;
    expect(await tell(outcome)).toBe(false);
    await clock.advance(14_999);
    expect(await tell(outcome)).toBe(false);
    // It is judged anew a little later than it is known again.
    world.isKnown = true;
    expect(await tell(unknown)).toBe(false);
    expect(world.record.status).toBe(status);
    await write();
  }
  world.isKnown = false;
  expect(await tell(outcome)).toBe(false);
  await clock.advance(15_000);
  expect(await tell(outcome)).toBe(true);
  expect(world.record.status.guidance).toEqual({ isUnknown: true });
});

test('integration 2: of what a quota has left, pods that have ended have no part', async () => {
  const { world, write, clock } = setUpPod();
  const room = { hard: { cpuRequest: 1000 }, used: { cpuRequest: 400 }, scopes: undefined };
  world.quotas = [{ namespace: 'shop', name: 'cpu', ...room }];
  const shareBeside = async (phase: 'Running' | 'Succeeded' | 'Failed'): Promise<number | undefined> => {
    const owner = { namespace: 'shop', name: 'job', uid: 'uid-job' };
    const pod = aSizedPod(owner, 'job-1', {}, { phase });
    world.others = [{ pod, sizing: pod.sizing }];
    await clock.advance(1000);
    await write();
    return world.record.status.guidance?.quotaNodeShare;
  };
  expect(await shareBeside('Running')).toBe(0.5);
  expect(await shareBeside('Succeeded')).toBe(1);
  expect(await shareBeside('Failed')).toBe(1);
});
