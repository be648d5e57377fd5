import { describe, expect, test } from 'vitest';
import { answer } from '../../act/resize-answers.ts';
import { rightsizingKeys } from '../../api/annotations-rightsizing.ts';
import type { SizedAdvice } from '../../decide/rightsizing/recommend-workload.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { applyChanges } from '../../model/pod-size.ts';
import type { SizedWorkload } from '../../model/sizing-records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { validPolicy } from '../../model/testing/policies.ts';
import { aDeployment, aReplicaSet, NOON } from '../../model/testing/records.ts';
import { aContainer, aSizedPod, aSizedWorkload } from '../../model/testing/sizing-records.ts';
import { readWatch } from '../../model/watched-changes.ts';
import { anOngoingChange } from '../testing/ongoing-change.ts';
import type { ApplyContext } from './apply.ts';
import { createRightsizingMemory } from './memory.ts';
import { createRecreate, type RecreateOptions } from './recreate.ts';
import { createRestartGate } from './restart-gate.ts';
import type { ApplyResult, AttemptOutcome } from './result.ts';
import type { OngoingChange } from './watches.ts';

const before = [aContainer({ size: { cpuRequest: 200 } })];
const lessCpu = [{ container: 'app', to: { cpuRequest: 100 } }];
const noLessons = { floors: [], reverts: 0 };
const asked: AttemptOutcome = { kind: 'asked', tookFrom: [] };
const block = { rule: 'x', reason: 'CooldownActive', message: 'not yet', advice: '', retryAfterMillis: 1 };
const blocked = { kind: 'blocked', block } as AttemptOutcome;
const unanswered: AttemptOutcome = {
  kind: 'refused',
  answer: { ...answer('ResizeApiTrouble', 'retry', 'no answer came'), isUncertain: true },
};
const unwritten: ApplyResult = { status: 'Pending', reason: 'UpdateFailed' };

interface Given {
  readonly ongoing?: readonly OngoingChange[];
  readonly found?: Partial<SizedWorkload>;
  /** When this leader wrote a template that is not seen yet. */
  readonly writtenAt?: EpochMillis;
  /** How long the process stood still since the pods were looked at. */
  readonly lateMillis?: Millis;
}

/** One look where another CPU request is due; what was asked for and written, in its order. */
async function look(
  request: number,
  answers: { readonly trial?: AttemptOutcome; readonly template?: AttemptOutcome; readonly note?: ApplyResult },
  { lateMillis = 0, found = {}, ...given }: Given = {},
) {
  const steps: string[] = [];
  const { trial = asked, template = asked, note } = answers;
  const clock = createVirtualClock(NOON + lateMillis);
  const recreate = createRecreate({
    actuator: {
      tryRetemplate() {
        steps.push('trial');
        return trial;
      },
      async retemplate() {
        steps.push('template');
        return template;
      },
    },
    changes: { judge: async () => [], noteMade: () => {}, noteHarm: () => ({ lessons: noLessons, result: unwritten }) },
    history: {
      recordIneffective: () => void steps.push('in vain'),
      recordFailure: () => void steps.push('failed'),
      failed: () => undefined,
    },
    restartGate: createRestartGate({ settings: () => ({ restart: { minShare: 0.1, cooldownMillis: 0 } }), clock }),
    settings: () => ({ revertMillis: 1_800_000, forceConflicts: true }),
    events: { onWorkload: () => {} },
    metrics: { inc: () => {} },
    clock,
  } as unknown as RecreateOptions);
  const memory = createRightsizingMemory().of('uid-web');
  memory.watches.resume(() => ({ ongoing: given.ongoing ?? [], takenBack: [] }));
  if (given.writtenAt !== undefined) memory.template.note(lessCpu, given.writtenAt);
  const record = aSizedPod(aReplicaSet(aDeployment()), 'web-1', { containers: before });
  const live: readonly SizedPod[] = [{ pod: record, sizing: record.sizing }];
  const pending = aSizedPod(
    aReplicaSet(aDeployment()),
    'web-2',
    {},
    { uid: 'pending', phase: 'Pending', ready: false },
  );
  const cpu = { isDue: true, request, notes: [] };
  const advice = [
    { container: 'app', current: before[0]?.size ?? {}, cpu, memory: { isDue: false, notes: [] } },
  ] as unknown as readonly SizedAdvice[];
  const result = await recreate({
    advised: {
      workload: aSizedWorkload({ containers: before, ...found }),
      pods: [...live, { pod: pending, sizing: pending.sizing }],
      at: NOON,
      inForce: before,
      advice,
      lessons: noLessons,
    },
    policy: validPolicy({ spec: { updateStrategy: { allowRecreate: true } } }),
    memory,
    live,
    async annotate(wanted: Readonly<Record<string, string | null>>) {
      const { changes } = readWatch(wanted[rightsizingKeys.watchedChanges] ?? undefined);
      steps.push(`watched: ${changes.length}`);
      return note;
    },
    signal: new AbortController().signal,
  } as unknown as ApplyContext);
  const { ongoing } = memory.watches;
  return { steps, result, watched: ongoing.length, unready: [...(ongoing[0]?.unready ?? [])] };
}

test.each<[string, number, Parameters<typeof look>[1], readonly string[], number]>([
  ['is written as watched before it is in the template', 100, {}, ['trial', 'watched: 1', 'template', 'watched: 1'], 1],
  ['is not begun where nobody can note it', 100, { note: unwritten }, ['trial', 'watched: 1'], 0],
  ['is neither noted nor written where something objects', 100, { trial: blocked }, ['trial'], 0],
  [
    'is watched no longer where it was not made',
    100,
    { template: blocked },
    ['trial', 'watched: 1', 'template', 'watched: 0'],
    0,
  ],
  [
    'is watched on where no answer came: it may have been made',
    100,
    { template: unanswered },
    ['trial', 'watched: 1', 'template'],
    1,
  ],
])('less in a template %s', async (_, request, answers, steps, watched) => {
  const looked = await look(request, answers);
  expect([looked.steps, looked.watched]).toEqual([steps, watched]);
});

test('more harms nobody before it hangs: it is noted with what is in force', async () => {
  expect((await look(400, {})).steps).toEqual(['template', 'watched: 1']);
});

test('who does not run yet counts as not ready when less begins: whoever leads next does not blame it for that', async () => {
  expect((await look(100, {})).unready).toEqual(['pending']);
});

describe('a process that stood still for 300 ms since it looked at the pods judges by what it saw then', () => {
  const lateMillis = 300;
  const begun = (agoMillis: Millis) =>
    anOngoingChange(lessCpu, before, { method: 'Recreate', startedAt: NOON - agoMillis });
  const template = applyChanges(before, lessCpu);

  test.each([
    [1_799_999, 1],
    [1_800_000, 0],
  ])('less that was watched for %i ms', async (agoMillis, watched) => {
    const given = { ongoing: [begun(agoMillis)], found: { containers: template }, lateMillis };
    expect((await look(200, {}, given)).watched).toBe(watched);
  });

  test.each([
    [59_999, []],
    [60_000, ['template', 'failed', 'in vain', 'watched: 1']],
  ])('new pods that were refused for %i ms', async (agoMillis, steps) => {
    const found = { containers: template, isRollingOut: true, refusedSince: NOON - agoMillis };
    expect((await look(200, {}, { ongoing: [begun(600_000)], found, lateMillis })).steps).toEqual(steps);
  });

  test.each([
    [29_999, []],
    [30_000, ['in vain']],
  ])('a template that was not seen %i ms after it was written', async (agoMillis, steps) => {
    const given = { writtenAt: NOON - agoMillis, lateMillis };
    expect((await look(200, {}, given)).steps.slice(0, 1)).toEqual(steps);
  });
});
