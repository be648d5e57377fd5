import { describe, expect, test } from 'vitest';
import type { InFlightEviction } from '../../guard/context.ts';
import { createDisruptionLog } from '../../guard/history.ts';
import { aSizedPod, aSizedWorkload } from '../../model/testing/sizing-records.ts';
import { createEvictionsInFlight } from '../evictions-in-flight.ts';
import { reviewRollouts } from './review-rollouts.ts';

const rollout: InFlightEviction = { workloadUid: 'w', podUid: 'w', since: 1_000, isRollout: true };

/** @param made when pods beside one from before were made; they are ready. */
function review(now: number, isRollingOut: boolean | undefined, entry = rollout, made: readonly number[] = []) {
  const inFlight = createEvictionsInFlight(() => 600_000);
  const history = createDisruptionLog({ initial: 1, max: 1 });
  let freed = 0;
  inFlight.onFreed(() => freed++);
  inFlight.add(entry);
  const workload = isRollingOut === undefined ? undefined : aSizedWorkload({ isRollingOut });
  let pods = podsMadeAt([0, ...made]);
  const view = { workloadByUid: () => workload, podsOf: () => pods };
  const disruptions = {
    history,
    inFlight,
    list: () => inFlight.list(now),
    endRollout: (uid: string) => void inFlight.remove(uid),
  };
  reviewRollouts(disruptions, view, now);
  const at = (later: number): number => inFlight.list(later).length;
  const goOn = (later: number, next: typeof pods): void => {
    pods = next;
    reviewRollouts({ ...disruptions, list: () => inFlight.list(later) }, view, later);
  };
  return { left: at(now), last: history.lastDisruption('w'), freed, at, goOn };
}

function podsMadeAt(made: readonly number[], changes: Parameters<typeof aSizedPod>[3] = {}) {
  return made.map((createdAt, index) => {
    const pod = aSizedPod(aSizedWorkload(), `w-${index}`, {}, { createdAt, ...changes });
    return { pod, sizing: pod.sizing };
  });
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
    ['whose new pods get ready keeps its place until it is stuck, counted from the last', true, [20_000], 629_999],
    // Creation times are cut to the second.
    ['that made its first pod in the second it began in goes on', true, [1_000], 629_999],
    ['that makes none is stuck since it began', true, [], 601_499],
    ['that is not seen yet is not kept by pods that are made meanwhile', false, [20_000], 601_499],
  ])('%s', (_, isRollingOut, made, last) => {
    const { at } = review(30_000, isRollingOut, { ...rollout, since: 1_500 }, made);
    expect(at(last)).toBe(1);
    expect(at(last + 1)).toBe(0);
  });

  test.each([
    ['are not ready', podsMadeAt([0, 20_000, 500_000], { ready: false })],
    ['are ending', podsMadeAt([0, 20_000, 500_000], { deletingAt: 530_000 })],
    ['take the place of one that was ready', podsMadeAt([0, 500_000])],
  ])('whose newest pods %s gets no further: it would hold its place for ever', (_, pods) => {
    const { at, goOn } = review(30_000, true, rollout, [20_000]);
    goOn(500_000, pods);
    expect(at(629_999)).toBe(1);
    expect(at(630_000)).toBe(0);
  });

  test('with one ready pod more each time keeps its place, however long it takes', () => {
    const { at, goOn } = review(30_000, true, rollout, [20_000]);
    goOn(500_000, podsMadeAt([0, 20_000, 490_000]));
    goOn(1_000_000, podsMadeAt([0, 20_000, 490_000, 990_000]));
    expect(at(1_599_999)).toBe(1);
    expect(at(1_600_000)).toBe(0);
  });

  test('evictions are left to whoever sees the pod gone', () => {
    expect(review(500_000, false, { workloadUid: 'w', podUid: 'p', since: 1_000 }).left).toBe(1);
  });
});
