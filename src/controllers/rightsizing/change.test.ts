import { expect, test } from 'vitest';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { NOON } from '../../model/testing/records.ts';
import { aContainer, aSizedWorkload } from '../../model/testing/sizing-records.ts';
import { before, lessCpu, pod } from '../testing/in-place-look.ts';
import { anOngoingChange } from '../testing/ongoing-change.ts';
import type { ApplyContext } from './apply.ts';
import { type ChangeOptions, createChanges, writeInForce } from './change.ts';
import { createRightsizingMemory } from './memory.ts';

test.each([
  ['are put in force, they are others than before', undefined, 1],
  ['could not be written, they are those from before', { status: 'Error', reason: 'UpdateFailed' }, 0],
] as const)('where sizes %s', async (_, kept, expected) => {
  const workload = aSizedWorkload();
  const memory = createRightsizingMemory().of(workload.uid);
  const context = { advised: { workload }, memory, annotate: async () => kept } as unknown as ApplyContext;
  const next = { inForce: [aContainer()], lessons: { floors: [], reverts: 0 } };
  expect(await writeInForce(context, next, NOON + 5_000)).toEqual(kept);
  expect(memory.times.revision).toBe(expected);
});

test.each([
  [59_999, 0],
  [60_000, 1],
])(
  'a pod that was seen unready for %i ms is judged by that, however long its throttling is asked for',
  async (unreadyMillis, expected) => {
    const clock = createVirtualClock(NOON);
    const changes = createChanges({
      clock,
      lookForThrottling: async () => {
        await clock.advance(30_000);
        return () => undefined;
      },
    } as unknown as ChangeOptions);
    const change = anOngoingChange(lessCpu, before, {
      startedAt: NOON - 600_000,
      restarts: new Map([['first/app', 0]]),
    });
    const { pod: record, sizing } = pod('first', lessCpu);
    const live = [{ pod: { ...record, ready: false, readyChangedAt: NOON - unreadyMillis }, sizing }];
    const memory = createRightsizingMemory().of('uid-web');
    const advised = { workload: aSizedWorkload({ containers: before }), at: NOON };
    const context = { advised, memory, live } as unknown as ApplyContext;
    expect(await changes.judge(context, () => live, [change])).toHaveLength(expected);
  },
);
