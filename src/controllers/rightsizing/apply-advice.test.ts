import { expect, test } from 'vitest';
import { watchChange } from '../../decide/rightsizing/watched-change.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { applyChanges } from '../../model/pod-size.ts';
import { createSizingSnapshot } from '../../model/sizing-snapshot.ts';
import { validPolicy } from '../../model/testing/policies.ts';
import { NOON } from '../../model/testing/records.ts';
import { aContainer, aSizedWorkload } from '../../model/testing/sizing-records.ts';
import type { ApplyContext } from './apply.ts';
import { type ApplyAdviceOptions, createApplyAdvice } from './apply-advice.ts';
import { createRightsizingMemory } from './memory.ts';

const before = [aContainer()];
const less = [{ container: 'app', to: { cpuRequest: 50 } }];
const after = applyChanges(before, less);

/** Looks at a workload of which the first pod has less, once under each policy; the process stands still meanwhile. */
async function lookUnder(specs: readonly object[], found: object = {}, advised: object = {}, watched: object = {}) {
  const asked: string[] = [];
  const written: unknown[] = [];
  const by = (name: string) => async () => {
    asked.push(name);
    return { status: 'Applied' as const };
  };
  const applyAdvice = createApplyAdvice({
    view: createSizingSnapshot({}),
    settings: () => ({ size: { dryRun: false, readOnly: false }, revertMillis: 60_000 }),
    sizesNewPods: () => true,
    inPlaceProblem: () => undefined,
    methods: { InPlace: by('InPlace'), Recreate: by('Recreate'), Evict: by('Evict') },
    clock: createVirtualClock(NOON + 300),
  } as unknown as ApplyAdviceOptions);
  const memory = createRightsizingMemory().of('uid-web');
  const canary = { uid: 'first', name: 'first', at: NOON };
  const change = { ...watchChange(less, before, [], NOON), method: 'InPlace', phase: 'canary', canary } as const;
  memory.watches.begin({ ...change, ...watched });
  memory.template.note(less, NOON - 29_999);
  const workload = aSizedWorkload({ containers: before, ...found });
  const looks: unknown[] = [];
  for (const spec of specs) {
    const result = await applyAdvice.apply({
      advised: { workload, pods: [], at: NOON, inForce: before, advice: [], ...advised },
      policy: validPolicy({ spec }),
      memory,
      annotate: async (wanted: object) => void written.push(wanted),
      signal: new AbortController().signal,
    } as unknown as Omit<ApplyContext, 'live' | 'replicas'>);
    looks.push([result?.status, applyAdvice.isActing(memory), memory.watches.ongoing.length]);
  }
  return { asked, written, looks };
}

test('what only the first pod has is watched while it is applied, and forgotten where it is not any more', async () => {
  const { asked, looks } = await lookUnder([{ mode: 'Auto' }, { mode: 'Recommend' }]);
  expect(asked).toEqual(['InPlace']);
  expect(looks).toEqual([
    ['Applied', true, 1],
    [undefined, false, 0],
  ]);
});

test('what keeps it from being applied is told', async () => {
  const { asked, looks } = await lookUnder([{}], { annotations: { 'optipod.io/paused': 'true' } });
  expect([asked, looks]).toEqual([[], [['Skipped', false, 0]]]);
});

test('sizes that nobody has any more are taken off the workload before any pod is brought in line with them', async () => {
  const annotations = { 'optipod.io/applied-sizes': '{"app":{"cpuRequest":[100,50]}}' };
  const { asked, written } = await lookUnder([{}], { annotations }, { isOutworn: true });
  expect([written, asked]).toEqual([[{ 'optipod.io/applied-sizes': null }], ['InPlace']]);
});

test('what somebody has put other sizes in force for is not taken up again', async () => {
  const given = { inForce: after, advice: [] };
  expect((await lookUnder([{}], {}, given)).looks).toEqual([['Applied', true, 0]]);
});

test.each([
  [29_999, 1],
  [30_000, 0],
])(
  'a template that was not seen %i ms after it was written: what it changes is still watched %i times',
  async (...given) => {
    const [agoMillis, watched] = given;
    const at = NOON - 29_999 + agoMillis;
    const { looks } = await lookUnder([{}], {}, { at }, { method: 'Recreate', phase: 'spread' });
    expect(looks).toEqual([['Applied', true, watched]]);
  },
);
