import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rightsizingKeys } from '../api/annotations-rightsizing.ts';
import { writeAppliedSizes } from './applied-sizes.ts';
import { type AwaitedPods, awaitedIn, givenBack, roomKept } from './awaited-pods.ts';
import type { PodRecord } from './records.ts';
import { freshState, writeReplicaSizes } from './replica-sizes.ts';
import { noUse } from './size-bounds.ts';
import type { ContainerSize, LimitRangeRecord, PodSizing, SizedWorkload } from './sizing-records.ts';
import { createSizingSnapshot } from './sizing-snapshot.ts';
import { aStatefulSet, NOON } from './testing/records.ts';
import { aContainer, aLimitRange, aQuota, aSizedPod, aSizedWorkload, MIB } from './testing/sizing-records.ts';

const size = { cpuRequest: 100, memoryRequest: 64 * MIB };
const containers = [aContainer({ size })];
const set = aStatefulSet({ namespace: 'shop' });
const of = (cpuRequest: number) => [aContainer({ size: { ...size, cpuRequest } })];

const podOf = (ordinal: number, changes: Partial<PodRecord> = {}, sizing: Partial<PodSizing> = {}) =>
  aSizedPod(set, `db-${ordinal}`, { containers, ...sizing }, { uid: `db-${ordinal}`, ...changes });

interface Asked {
  readonly workload?: Partial<SizedWorkload>;
  readonly limitRanges?: readonly LimitRangeRecord[];
  readonly going?: string;
  readonly namespace?: string;
}

/** Of a StatefulSet of three that has these pods. */
function awaited(
  pods: readonly PodRecord[],
  { workload = {}, limitRanges = [], going, namespace = 'shop' }: Asked = {},
) {
  const db = aSizedWorkload({ kind: 'StatefulSet', name: 'db', uid: set.uid, containers, ...workload });
  const view = createSizingSnapshot({ workloads: [db], pods, limitRanges });
  return awaitedIn(view, namespace, new Map(going === undefined ? [] : [[going, set.uid]]), NOON).awaited;
}

describe('pods that are missing', () => {
  const two = [podOf(0), podOf(1)];

  test('are as many as the workload lacks, whatever the others are at', () => {
    expect(awaited(two)).toMatchObject([{ count: 1, each: { cpuRequest: 100, memoryRequest: 64 * MIB } }]);
    expect(awaited([])).toMatchObject([{ count: 3, like: undefined }]);
    expect(awaited([...two, podOf(2, { phase: 'Pending' })])).toEqual([]);
    expect(awaited([...two, podOf(2, { phase: 'Failed' })])).toMatchObject([{ count: 1, returning: noUse }]);
  });

  test.each<[string, Asked]>([
    ['of more than are wanted none is', { workload: { replicas: 1 } }],
    ['a workload on its way out gets none', { workload: { deleting: true } }],
    ['a Job that is over makes none', { workload: { kind: 'Job' } }],
    ['other namespaces have quotas of their own', { namespace: 'other' }],
    ['what a policy has refused for ten minutes is not waited for', { workload: { refusedSince: NOON - 600_000 } }],
  ])('%s', (_, asked) => {
    expect(awaited(two, asked)).toEqual([]);
  });

  test('what was refused a moment ago is still waited for', () => {
    expect(awaited(two, { workload: { refusedSince: NOON - 599_999 } })).toMatchObject([{ count: 1 }]);
  });

  test('surplus pods of a rollout give back what they hold, unless the rollout is stuck', () => {
    const pods = [...two, podOf(2), podOf(3)].map((pod) => ({ pod, sizing: pod.sizing }));
    const returning = (changes: Partial<SizedWorkload>) =>
      givenBack(aSizedWorkload(changes), pods, { isGoing: () => false, now: NOON }).cpuRequest;
    expect([returning({}), returning({ isStuck: true })]).toEqual([100, 0]);
  });

  test('those in whose place they come hold room until they are gone, or their time is over', () => {
    const returning = { ...noUse, cpuRequest: 100, memoryRequest: 64 * MIB };
    const ending = (deletingAt: number) => awaited([...two, podOf(2, { deletingAt })]);
    expect(ending(NOON + 1)).toMatchObject([{ count: 1, returning }]);
    expect(ending(NOON - 1)).toMatchObject([{ count: 1, returning: noUse }]);
    // It was evicted, and the view has not heard of it.
    expect(awaited([...two, podOf(2)], { going: 'db-2' })).toMatchObject([{ count: 1, returning }]);
  });

  test('are made with what is in force, and with no less than the template has', () => {
    const written = (cpuRequest: number) => ({
      workload: {
        annotations: { [rightsizingKeys.appliedSizes]: writeAppliedSizes(containers, of(cpuRequest)) ?? '' },
      },
    });
    expect(awaited(two, written(400))).toMatchObject([{ each: { cpuRequest: 400 }, least: { cpuRequest: 100 } }]);
    expect(awaited(two, written(40))).toMatchObject([{ each: { cpuRequest: 100 } }]);
  });

  test('are made with what their own replica has, not with what others have', () => {
    const states = new Map([
      ['1', freshState(of(900))],
      ['2', freshState(of(300))],
    ]);
    const annotations = { [rightsizingKeys.replicaSizes]: writeReplicaSizes(containers, states) ?? '' };
    expect(awaited(two, { workload: { annotations } })).toMatchObject([{ each: { cpuRequest: 300 } }]);
  });

  test('are given what a LimitRange gives, and the proxy that the others have', () => {
    const workload = { containers: [aContainer({ size: { memoryRequest: 64 * MIB } })] };
    const limitRanges = [aLimitRange({ defaultRequest: { cpu: 70 }, defaultLimit: { cpu: 80 } })];
    const proxied = [...containers, aContainer({ name: 'proxy', size: { cpuRequest: 25 } })];
    const pods = [podOf(0, {}, { containers: proxied }), podOf(1)];
    expect(awaited(pods, { workload, limitRanges })).toMatchObject([{ each: { cpuRequest: 95, cpuLimit: 80 } }]);
  });
});

describe('room that is kept', () => {
  const like = { qos: 'Burstable', priorityClassName: 'high' } as const;
  const missing = (
    count: number,
    each: ContainerSize,
    returning: ContainerSize = {},
    least: ContainerSize = {},
  ): AwaitedPods => ({
    count,
    each: { ...noUse, ...each },
    least: { ...noUse, ...each, ...least },
    returning: { ...noUse, ...returning },
    like,
  });
  const quota = aQuota({ hard: { cpuRequest: 1000, memoryRequest: 1000 }, used: { cpuRequest: 400 } });

  test.each<[string, readonly AwaitedPods[], number, number]>([
    ['none is missing', [], 0, 0],
    ['all that are', [missing(2, { cpuRequest: 200 })], 0, 400],
    ['of several workloads', [missing(1, { cpuRequest: 200 }), missing(1, { cpuRequest: 100 })], 0, 300],
    ['only what they need beyond what is given back', [missing(1, { cpuRequest: 500 }, { cpuRequest: 100 })], 0, 400],
    ['less is given back than taken', [missing(1, { cpuRequest: 50 }, { cpuRequest: 100 })], 0, 0],
    ['whole pods only: the rest is of no use to them', [missing(9, { cpuRequest: 250 })], 0, 500],
    ['no pod that cannot be: there is too little memory', [missing(1, { cpuRequest: 1, memoryRequest: 1001 })], 0, 0],
    ['no pod that cannot be: others have asked for what is left', [missing(1, { cpuRequest: 200 })], 401, 0],
    [
      'what a pod gives back counts for whether the next can be',
      [missing(1, { cpuRequest: 700 }, { cpuRequest: 100 })],
      0,
      600,
    ],
  ])('%s', (_, awaitedPods, underWay, expected) => {
    expect(roomKept(quota, awaitedPods, { ...noUse, cpuRequest: underWay }).cpuRequest).toBe(expected);
  });

  test('for who has no room for the size in force, is that for the size of the template', () => {
    const keptFor = (count: number, free: number) =>
      roomKept(
        { ...quota, used: { cpuRequest: 1000 - free } },
        [missing(count, { cpuRequest: 500 }, {}, { cpuRequest: 100 })],
        noUse,
      ).cpuRequest;
    expect([90, 100, 499, 500, 600, 1000].map((free) => keptFor(1, free))).toEqual([0, 100, 100, 500, 500, 500]);
    expect([499, 550, 600, 1000].map((free) => keptFor(2, free))).toEqual([200, 500, 600, 1000]);
  });

  test('what pods of others give back counts for whether one can be made, and is not theirs', () => {
    const pods = [missing(1, { cpuRequest: 700 }, { cpuRequest: 50 })];
    expect(roomKept(quota, pods, noUse).cpuRequest).toBe(0);
    expect(roomKept(quota, pods, noUse, { ...noUse, cpuRequest: 100 }).cpuRequest).toBe(650);
  });

  test('is of quotas that count them; of who is not known all do', () => {
    const scoped = { ...quota, scopes: ['PriorityClass In low'] };
    const pods = missing(1, { cpuRequest: 200 });
    expect(roomKept(scoped, [pods], noUse)).toEqual(noUse);
    expect(roomKept(scoped, [{ ...pods, like: undefined }], noUse).cpuRequest).toBe(200);
    expect(roomKept({ ...quota, scopes: ['PriorityClass In high'] }, [pods], noUse).cpuRequest).toBe(200);
  });

  test('for any pods of one workload, is never more than there is, and leaves less than one more pod', () => {
    const amount = fc.nat(1200);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 400 }), amount, amount, (...drawn) => {
        const [count, each, returning, used] = drawn;
        const of = { ...quota, used: { cpuRequest: used } };
        const kept = roomKept(of, [missing(count, { cpuRequest: each }, { cpuRequest: returning })], noUse).cpuRequest;
        const free = 1000 - used;
        expect(kept).toBeLessThanOrEqual(Math.max(0, free));
        const isAll = kept + returning >= count * each;
        expect(isAll || free - kept < each).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});
