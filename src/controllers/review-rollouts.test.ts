import { describe, expect, test } from 'vitest';
import type { InFlightEviction } from '../guard/context.ts';
import { createDisruptionLog } from '../guard/history.ts';
import { aSizedPod, aSizedWorkload } from '../model/testing/sizing-records.ts';
import { createEvictionsInFlight } from './evictions-in-flight.ts';
import { reviewRollouts } from './review-rollouts.ts';

const rollout: InFlightEviction = { workloadUid: 'w', podUid: 'w', since: 1_000, isRollout: true };

function review(now: number, isRollingOut: boolean | undefined, entry = rollout, newest = 0) {
  const inFlight = createEvictionsInFlight(() => 600_000);
  const history = createDisruptionLog({ initial: 1, max: 1 });
  let freed = 0;
  inFlight.onFreed(() => freed++);
  inFlight.add(entry);
  const workload = isRollingOut === undefined ? undefined : aSizedWorkload({ isRollingOut });
  const pods = [0, newest].map((createdAt, index) => aSizedPod(aSizedWorkload(), `w-${index}`, {}, { createdAt }));
  const view = { workloadByUid: () => workload, podsOf: () => pods.map((pod) => ({ pod, sizing: pod.sizing })) };
  const disruptions = {
    history,
    inFlight,
    list: () => inFlight.list(now),
    endRollout: (uid: string) => void inFlight.remove(uid),
  };
  reviewRollouts(disruptions, view, now);
  const at = (later: number): number => inFlight.list(later).length;
  return { left: at(now), last: history.lastDisruption('w'), freed, at };
}

describe('a rollout that Stowage began', () => {
  test.each([
    ['goes on', 500_000, true, 1, undefined],
    ['is not seen yet', 30_999, false, 1, undefined],
    ['is over: its place is free, and the cooldown begins', 31_000, false, 0, 31_000],
    ['is of a workload that is gone', 1_001, undefined, 0, undefined],
  ] as const)('%s', (_, now, isRollingOut, left, last) => {
    expect(review(now, isRollingOut)).toMatchObject({ left, last, freed: 1 - left });
  });

  test.each([
    ['that makes new pods keeps its place until it is stuck, counted from the newest', true, 500_000, 1_099_999],
    ['that makes none is stuck since it began', true, 0, 600_999],
    ['that is not seen yet is not kept by pods that are made meanwhile', false, 30_000, 600_999],
  ])('%s', (_, isRollingOut, newest, last) => {
    const { at } = review(30_000, isRollingOut, rollout, newest);
    expect(at(last)).toBe(1);
    expect(at(last + 1)).toBe(0);
  });

  test('evictions are left to whoever sees the pod gone', () => {
    expect(review(500_000, false, { workloadUid: 'w', podUid: 'p', since: 1_000 }).left).toBe(1);
  });
});
