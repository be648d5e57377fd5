import { expect, test } from 'vitest';
import { answer } from '../../act/resize-answers.ts';
import type { RetemplateDecision } from '../../decide/size-decision.ts';
import { validPolicy } from '../../model/testing/policies.ts';
import { aSizedWorkload } from '../../model/testing/sizing-records.ts';
import type { ApplyContext } from './apply.ts';
import { type CountedRetemplateOptions, createCountedRetemplate } from './counted-retemplate.ts';
import type { AttemptOutcome } from './result.ts';

const workload = aSizedWorkload();

async function attemptOf(attempt: AttemptOutcome, useServerSideApply = true) {
  const counted: unknown[] = [];
  const told: unknown[] = [];
  const retemplate = createCountedRetemplate({
    actuator: { retemplate: async () => attempt },
    metrics: { inc: (name: string, labels: object) => counted.push([name, labels]) },
    events: { onWorkload: (_: unknown, event: object) => told.push(event) },
  } as unknown as CountedRetemplateOptions);
  const context = { advised: { workload }, policy: validPolicy({ name: 'all' }), signal: new AbortController().signal };
  const decision = { workload, useServerSideApply } as unknown as RetemplateDecision;
  expect(await retemplate(context as unknown as ApplyContext, decision)).toBe(attempt);
  return { counted, told };
}

const labels = { policy: 'all', namespace: 'shop', workload: 'web', kind: 'Deployment' };

test.each<[string, AttemptOutcome, boolean, object]>([
  [
    'that was taken',
    { kind: 'asked', tookFrom: [] },
    true,
    { ...labels, status: 'success', patch_type: 'ServerSideApply' },
  ],
  [
    'that was refused',
    { kind: 'refused', answer: answer('ResizeApiTrouble', 'retry', 'no answer came') },
    false,
    { ...labels, status: 'failure', patch_type: 'StrategicMergePatch' },
  ],
])('a template %s is counted', async (_name, attempt, useServerSideApply, expected) => {
  expect(await attemptOf(attempt, useServerSideApply)).toEqual({
    counted: [['optipod_ssa_patch_total', expected]],
    told: [],
  });
});

test('one that a guard objected to was never asked for', async () => {
  const block = { rule: 'x', reason: 'CooldownActive', message: 'not yet', advice: '', retryAfterMillis: 1 } as const;
  expect(await attemptOf({ kind: 'blocked', block })).toEqual({ counted: [], told: [] });
});

test('whose fields were taken is told', async () => {
  const { told } = await attemptOf({ kind: 'asked', tookFrom: ['argocd', 'kubectl'] });
  const message = 'Manager optipod now owns the requests of Deployment shop/web; before: argocd, kubectl';
  expect(told).toEqual([{ reason: 'SSAOwnershipTaken', message }]);
});
