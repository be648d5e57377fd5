import { describe, expect, test } from 'vitest';
import type { SizedPod } from '../model/sizing-view.ts';
import { aDeployment, aReplicaSet, NOON } from '../model/testing/records.ts';
import { aContainer, aQuota, aSizedPod, aSizedWorkload } from '../model/testing/sizing-records.ts';
import { createBeyondQuota } from './beyond-quota.ts';

interface Cluster {
  /** Of the quota, by its figures. */
  readonly free?: number;
  /** Of 200 each. */
  readonly pods?: readonly SizedPod[];
}

/** Asks for pods of 350 that were sent with 200. */
function createQuestions() {
  let now = NOON;
  let cluster: Cluster = {};
  const isBeyondQuota = createBeyondQuota({
    quotas: () => [aQuota({ hard: { cpuRequest: 1000 }, used: { cpuRequest: 1000 - (cluster.free ?? 0) } })],
    podsOf: () => cluster.pods ?? [],
    clock: { now: () => now },
  });
  const of = (cpuRequest: number) => [aContainer({ size: { cpuRequest } })];
  return (seconds: number, as: Cluster, uid = 'web', isDryRun = false): boolean => {
    now = NOON + seconds * 1000;
    cluster = as;
    const subject = { qos: 'Burstable', priorityClassName: '' } as const;
    return isBeyondQuota(aSizedWorkload({ uid }), subject, of(350), of(200), isDryRun);
  };
}

const podOf = (changes: object): SizedPod => {
  const pod = aSizedPod(aReplicaSet(aDeployment()), 'web-1', {}, changes);
  return { pod, sizing: pod.sizing };
};
const goneBy = (seconds: number, changes: object = {}) => podOf({ deletingAt: NOON + seconds * 1000, ...changes });

/** Asked at once, and again when there has been time enough. */
function madeAsSent(as: Cluster): readonly [boolean, boolean] {
  const ask = createQuestions();
  return [ask(0, as), ask(10, as)];
}

describe('a pod for whose size in force a quota has no room', () => {
  test('is made as it was sent where there is room for that: of what is refused either way the larger size is the reason', () => {
    expect([199, 200, 349, 350].map((free) => madeAsSent({ free })[1])).toEqual([false, true, true, false]);
  });

  test('is refused and asked for again first: figures still hold what the pod had in whose place it comes', () => {
    const ask = createQuestions();
    const leaving = { free: 200, pods: [goneBy(30)] };
    expect([0, 5, 29].map((seconds) => ask(seconds, leaving))).toEqual([false, false, false]);
    // It is gone, and the quota does not say so yet.
    expect([29, 29.01, 29.03].map((seconds) => ask(seconds, { free: 200 }))).toEqual([false, false, false]);
    expect(ask(29.1, { free: 400 })).toBe(false);
    // The next of them goes.
    expect([80, 89.9].map((seconds) => ask(seconds, { free: 200 }))).toEqual([false, false]);
    expect(ask(90, { free: 200 })).toBe(true);
  });

  test('is not refused for long, however seldom it is asked for, nor for what others wait for', () => {
    const ask = createQuestions();
    // No room for either, and then for the smaller one.
    expect(ask(0, { free: 100 })).toBe(false);
    expect(ask(1000, { free: 200 })).toBe(true);
    expect(ask(1000, { free: 200 }, 'api')).toBe(false);
    // A shortage of long ago says nothing.
    expect(ask(9000, { free: 200 })).toBe(false);
    expect(ask(9010, { free: 200 })).toBe(true);
  });

  test('is answered in a dry run as any other, which neither begins nor ends the wait of those that are made', () => {
    const ask = createQuestions();
    const dry = (seconds: number, free: number): boolean => ask(seconds, { free }, 'web', true);
    expect([dry(0, 200), dry(20, 200)]).toEqual([false, false]);
    expect(ask(20, { free: 200 })).toBe(false);
    expect([dry(25, 400), dry(30, 200)]).toEqual([false, true]);
    expect(ask(30, { free: 200 })).toBe(true);
  });

  test('is made, too, when the clock has been put back', () => {
    const ask = createQuestions();
    expect([0, -3600, -3590].map((seconds) => ask(seconds, { free: 200 }))).toEqual([false, false, true]);
  });
});

describe('what a pod on its way out gives back', () => {
  test('is for the next: that is asked for again until the room is there', () => {
    expect(madeAsSent({ free: 150, pods: [goneBy(30)] })).toEqual([false, false]);
    expect(madeAsSent({ free: 149, pods: [goneBy(30)] })).toEqual([false, true]);
    expect(madeAsSent({ free: 300, pods: [podOf({})] })).toEqual([false, true]);
    expect(madeAsSent({ free: 300, pods: [goneBy(30, { phase: 'Failed' })] })).toEqual([false, true]);
  });

  test('is not waited for where it stays beyond its time, as on a node that is lost', () => {
    expect(madeAsSent({ free: 300, pods: [goneBy(-1)] })).toEqual([false, true]);
  });
});
