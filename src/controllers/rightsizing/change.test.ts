import { expect, test } from 'vitest';
import { NOON } from '../../model/testing/records.ts';
import { aContainer, aSizedWorkload } from '../../model/testing/sizing-records.ts';
import type { ApplyContext } from './apply.ts';
import { writeInForce } from './change.ts';
import { createRightsizingMemory } from './memory.ts';

const pods: ReadonlySet<string> = new Set(['web-1']);

test.each([
  ['are put in force, a replacement made before has rightly others: it is not judged', undefined, undefined],
  ['could not be written, it is judged as ever', { status: 'Error', reason: 'UpdateFailed' }, pods],
] as const)('where sizes %s', async (_, kept, expected) => {
  const workload = aSizedWorkload();
  const memory = createRightsizingMemory().of(workload.uid);
  memory.beforeEviction = pods;
  const context = { advised: { workload }, memory, annotate: async () => kept } as unknown as ApplyContext;
  const next = { inForce: [aContainer()], lessons: { floors: [], reverts: 0 } };
  expect(await writeInForce(context, next, NOON + 5_000)).toEqual(kept);
  expect(memory.beforeEviction).toBe(expected);
});
