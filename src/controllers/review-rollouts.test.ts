import { describe, expect, test } from 'vitest';
import type { InFlightEviction } from '../guard/context.ts';
import { createDisruptionLog } from '../guard/history.ts';
import { aSizedWorkload } from '../model/testing/sizing-records.ts';
import { createEvictionsInFlight } from './evictions-in-flight.ts';
import { reviewRollouts } from './review-rollouts.ts';

const rollout: InFlightEviction = { workloadUid: 'w', podUid: 'w', since: 1_000, isRollout: true };

function review(now: number, isRollingOut: boolean | undefined, entry = rollout) {
  const inFlight = createEvictionsInFlight(() => 600_000);
  const history = createDisruptionLog({ initial: 1, max: 1 });
  let freed = 0;
  inFlight.onFreed(() => freed++);
  inFlight.add(entry);
  const workload = isRollingOut === undefined ? undefined : aSizedWorkload({ isRollingOut });
  const disruptions = {
    history,
    list: () => inFlight.list(now),
    endRollout: (uid: string) => void inFlight.remove(uid),
  };
  reviewRollouts(disruptions, { workloadByUid: () => workload }, now);
  return { left: inFlight.list(now).length, last: history.lastDisruption('w'), freed };
}

describe('a rollout that Stowage began', () => {
  test.each([
    ['goes on', 500_000, true, 1, undefined],
    ['is not seen yet', 30_999, false, 1, undefined],
    ['is over: its place is free, and the cooldown begins', 31_000, false, 0, 31_000],
    ['is of a workload that is gone', 1_001, undefined, 0, undefined],
  ] as const)('%s', (_, now, isRollingOut, left, last) => {
    expect(review(now, isRollingOut)).toEqual({ left, last, freed: 1 - left });
  });

  test('evictions are left to whoever sees the pod gone', () => {
    expect(review(500_000, false, { workloadUid: 'w', podUid: 'p', since: 1_000 }).left).toBe(1);
  });
});
