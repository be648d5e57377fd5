import { expect, test } from 'vitest';
import { NOON } from '../../model/testing/records.ts';
import { aContainer, aSizedWorkload } from '../../model/testing/sizing-records.ts';
import type { ApplyContext } from './apply.ts';
import { writeInForce } from './change.ts';
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
