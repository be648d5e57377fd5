import { describe, expect, test } from 'vitest';
import type { DriftedPod } from '../../decide/rightsizing/pod-drift.ts';
import type { Millis } from '../../lib/units.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { applyChanges } from '../../model/pod-size.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { validPolicy } from '../../model/testing/policies.ts';
import { NOON } from '../../model/testing/records.ts';
import { aSizedWorkload } from '../../model/testing/sizing-records.ts';
import { before, lessCpu, pod } from '../testing/in-place-look.ts';
import { anOngoingChange } from '../testing/ongoing-change.ts';
import type { ApplyContext } from './apply.ts';
import { type ByEvictionOptions, createByEviction } from './by-eviction.ts';
import { createRightsizingMemory } from './memory.ts';
import type { OngoingChange } from './watches.ts';

/** One look where less is in force, 300 ms after the pods were looked at. */
async function look(live: readonly SizedPod[], watched: Partial<OngoingChange>) {
  const clock = createVirtualClock(NOON + 300);
  const evicted: string[] = [];
  const byEviction = createByEviction({
    replacement: {
      evictOne: async (_: unknown, drifted: readonly DriftedPod[]) =>
        void evicted.push(...drifted.map((each) => each.pod.pod.name)),
      tryOne: async () => undefined,
      judgeLast: () => {},
    },
    changes: { judge: async () => [] },
    restartGate: { newPods: () => ({ beginning: [], held: undefined }) },
    settings: () => ({ canaryMillis: 180_000, revertMillis: 1_800_000 }),
    isAllocated: () => false,
    clock,
  } as unknown as ByEvictionOptions);
  const memory = createRightsizingMemory().of('uid-web');
  memory.watches.resume(() => ({
    ongoing: [anOngoingChange(lessCpu, before, { method: 'Evict', ...watched })],
    takenBack: [],
  }));
  await byEviction({
    advised: {
      workload: aSizedWorkload({ containers: before }),
      pods: live,
      at: NOON,
      inForce: applyChanges(before, lessCpu),
      advice: [],
      lessons: { floors: [], reverts: 0 },
    },
    policy: validPolicy(),
    memory,
    live,
    signal: new AbortController().signal,
  } as unknown as ApplyContext);
  return { evicted, watched: memory.watches.ongoing.length };
}

describe('a process that stood still since it looked at the pods judges by what it saw then', () => {
  test.each<[Millis, readonly string[]]>([
    [179_999, []],
    [180_000, ['other']],
  ])('a first pod that has had less for %i ms', async (agoMillis, expected) => {
    const first = pod('first', lessCpu, {}, NOON - agoMillis);
    const { evicted } = await look([first, pod('other', [])], { phase: 'canary', startedAt: NOON - 600_000 });
    expect(evicted).toEqual(expected);
  });

  test.each<[Millis, number]>([
    [1_799_999, 1],
    [1_800_000, 0],
  ])('less that all pods have had for %i ms', async (agoMillis, expected) => {
    const { watched } = await look([pod('first', lessCpu)], { startedAt: NOON - agoMillis });
    expect(watched).toBe(expected);
  });
});
