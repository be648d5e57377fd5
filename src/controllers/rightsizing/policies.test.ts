import { describe, expect, test } from 'vitest';
import type { WritePolicyStatus } from '../../act/policy-status.ts';
import type { OptimizationPolicyStatus } from '../../api/optimization-policy-status.ts';
import { defaultPolicy, type RightsizingPolicy } from '../../decide/rightsizing/policy.ts';
import { recommendWorkload } from '../../decide/rightsizing/recommend-workload.ts';
import { savingOf } from '../../decide/rightsizing/savings.ts';
import { percentilePolicy, profileOf } from '../../decide/rightsizing/testing/profiles.ts';
import { workloadStatus } from '../../decide/rightsizing/workload-status.ts';
import { createSilentLogger } from '../../lib/log.ts';
import { createSeededRandom } from '../../lib/random.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { workloadKey } from '../../model/cluster-view.ts';
import { validPolicy } from '../../model/testing/policies.ts';
import { aContainer, aSizedWorkload, MIB } from '../../model/testing/sizing-records.ts';
import { resultAtRest } from './apply-result.ts';
import { createRightsizingMemory } from './memory.ts';
import { createPolicyBooks, StatusWriteError } from './policies.ts';

type WriteOutcome = Awaited<ReturnType<WritePolicyStatus>>;

const STEP = 300_000;
const DAY_STEPS = 288;

function setUp(answer: () => WriteOutcome = () => ({ result: 'written' })) {
  const clock = createVirtualClock(0);
  const written: { readonly policy: string; readonly status: OptimizationPolicyStatus }[] = [];
  const writeStatus: WritePolicyStatus = async ({ name }, status) => {
    written.push({ policy: name, status });
    return answer();
  };
  const log = createSilentLogger();
  const nothing = { warningsOf: () => [], healthOf: () => undefined };
  const gone = new Set<string>();
  const isThere = (uid: string): boolean => !gone.has(uid);
  const books = createPolicyBooks({ isThere, writeStatus, dryRun: () => false, ...nothing, clock, log });
  return { clock, books, written, gone };
}
const { signal } = new AbortController();

test('a policy that is gone is remembered no more, whoever asks for it afterwards', () => {
  const { books, gone } = setUp();
  const known = books.of('p');
  expect(books.of('p')).toBe(known);
  gone.add('p');
  books.forget('p');
  expect(books.of('p')).not.toBe(books.of('p'));
});

describe('the status of policies', () => {
  test('at rest is written a few dozen times a day, though use goes up and down', async () => {
    const { clock, books, written } = setUp();
    const random = createSeededRandom(7);
    const noisy = (level: number, share: number): number => level * (1 + share * (2 * random.next() - 1));
    const rules: readonly RightsizingPolicy[] = [defaultPolicy, percentilePolicy(90, 1.2)];
    const fleets = rules.map((policy, index) => ({
      policy: validPolicy({ name: `p${index}` }),
      rules: policy,
      workloads: Array.from({ length: 5 }, (_, nth) => {
        const level = 100 + 150 * nth;
        const usage = {
          cpu: (step: number) => noisy(level * (1 + 0.4 * Math.sin((2 * Math.PI * step) / DAY_STEPS)), 0.2),
          memory: (step: number) => Math.ceil(noisy(level * (1 + 0.1 * Math.sin(step / 50)), 0.04) * MIB),
        };
        const size = { cpuRequest: 2 * level, memoryRequest: 2 * level * MIB };
        const workload = aSizedWorkload({ name: `w${nth}`, uid: `u${nth}`, containers: [aContainer({ size })] });
        return { workload, usage, profile: profileOf(3 * DAY_STEPS, usage) };
      }),
    }));
    const memory = createRightsizingMemory().of('none');
    await clock.advance(3 * DAY_STEPS * STEP);
    const passes = DAY_STEPS;
    for (let pass = 0; pass < passes; pass++) {
      const now = clock.now();
      for (const { policy, rules: own, workloads } of fleets) {
        const book = books.of(policy.uid);
        book.discovered = { Deployment: workloads.length };
        book.owned = workloads.length;
        for (const { workload, usage, profile } of workloads) {
          profile.add({ at: now, cpu: usage.cpu(now / STEP), memory: usage.memory(now / STEP) });
          const advice = recommendWorkload({
            workload,
            containers: workload.containers,
            knowledgeOf: () => ({
              profile,
              window: undefined,
              floors: undefined,
              lastChange: { cpu: now, memory: now },
            }),
            policy: own,
            around: { limitRanges: [], quotas: [], hpas: [], largestNode: undefined, replicas: 2 },
            isCpuAllocated: false,
            now,
          });
          const advised = {
            workload,
            pods: [],
            at: now,
            inForce: workload.containers,
            lessons: { reverts: 0, floors: [] },
            advice,
            hasUsage: true,
          };
          const entry = workloadStatus({
            workload,
            advice,
            outcome: resultAtRest(advised, memory),
            lastRecommendation: now,
            lastApplied: 0,
            lastApplyMethod: 'InPlace',
            fieldOwnership: undefined,
          });
          book.results.set(workloadKey(workload), {
            entry,
            advice,
            saving: savingOf(advice, 2),
            hasUsage: true,
            metricsProblem: undefined,
            forbidden: undefined,
            failure: undefined,
            againAfterMillis: undefined,
          });
        }
        const shown = written.findLast((each) => each.policy === policy.name)?.status ?? {};
        await books.write({ ...policy, status: shown }, signal);
      }
      await clock.advance(STEP);
    }
    // Twice an hour for the times of the last passes, and now and then a value that did move.
    expect(written.length).toBeLessThanOrEqual(2 * 24 + 24);
    expect(written.length).toBeGreaterThanOrEqual(2 * 23);
  });

  test('that somebody else overwrites is written anew, as soon as it cannot be a cache that is behind', async () => {
    const { clock, books, written } = setUp();
    const policy = validPolicy();
    books.of(policy.uid).discovered = { Deployment: 1 };
    await books.write(policy, signal);
    await clock.advance(29_000);
    await books.write(policy, signal);
    expect(written).toHaveLength(1);
    await clock.advance(1_000);
    const [first] = written;
    await books.write({ ...policy, status: first?.status ?? {} }, signal);
    expect(written).toHaveLength(1);
    await books.write({ ...policy, status: { workloadsDiscovered: 7 } }, signal);
    expect(written.map(({ status }) => status.workloadsDiscovered)).toEqual([1, 1]);
  });

  test('that could not be written is an error, and written in full the next time', async () => {
    let answer: WriteOutcome = { result: 'failed', message: 'connection refused' };
    const { books, written } = setUp(() => answer);
    const policy = validPolicy();
    books.of(policy.uid).discovered = { Deployment: 1 };
    await expect(books.write(policy, signal)).rejects.toThrow(StatusWriteError);
    answer = { result: 'written' };
    await books.write(policy, signal);
    await books.write(policy, signal);
    expect(written.map(({ status }) => status.workloadsDiscovered)).toEqual([1, 1]);
  });
});
