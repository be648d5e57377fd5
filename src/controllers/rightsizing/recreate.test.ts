import { expect, test } from 'vitest';
import { answer } from '../../act/resize-answers.ts';
import { rightsizingKeys } from '../../api/annotations-rightsizing.ts';
import type { SizedAdvice } from '../../decide/rightsizing/recommend-workload.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { validPolicy } from '../../model/testing/policies.ts';
import { aDeployment, aReplicaSet, NOON } from '../../model/testing/records.ts';
import { aContainer, aSizedPod, aSizedWorkload } from '../../model/testing/sizing-records.ts';
import { readWatch } from '../../model/watched-changes.ts';
import type { ApplyContext } from './apply.ts';
import { createRightsizingMemory } from './memory.ts';
import { createRecreate, type RecreateOptions } from './recreate.ts';
import { createRestartGate } from './restart-gate.ts';
import type { ApplyResult, AttemptOutcome } from './result.ts';

const before = [aContainer({ size: { cpuRequest: 200 } })];
const asked: AttemptOutcome = { kind: 'asked', tookFrom: [] };
const block = { rule: 'x', reason: 'CooldownActive', message: 'not yet', advice: '', retryAfterMillis: 1 };
const blocked = { kind: 'blocked', block } as AttemptOutcome;
const unanswered: AttemptOutcome = {
  kind: 'refused',
  answer: { ...answer('ResizeApiTrouble', 'retry', 'no answer came'), isUncertain: true },
};
const unwritten: ApplyResult = { status: 'Pending', reason: 'UpdateFailed' };

/** One look where another CPU request is due; what was asked for and written, in its order. */
async function look(
  request: number,
  answers: { readonly trial?: AttemptOutcome; readonly template?: AttemptOutcome; readonly note?: ApplyResult },
) {
  const steps: string[] = [];
  const { trial = asked, template = asked, note } = answers;
  const clock = createVirtualClock(NOON);
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
    changes: { judge: async () => [], noteMade: () => {} },
    history: { recordIneffective: () => {}, recordEffective: () => {} },
    restartGate: createRestartGate({ settings: () => ({ restart: { minShare: 0.1, cooldownMillis: 0 } }), clock }),
    settings: () => ({ revertMillis: 1_800_000, forceConflicts: true }),
    events: { onWorkload: () => {} },
    metrics: { inc: () => {} },
    clock,
  } as unknown as RecreateOptions);
  const memory = createRightsizingMemory().of('uid-web');
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
      workload: aSizedWorkload({ containers: before }),
      pods: [...live, { pod: pending, sizing: pending.sizing }],
      inForce: before,
      advice,
      lessons: { floors: [], reverts: 0 },
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
