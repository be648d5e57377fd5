import { describe, expect, test } from 'vitest';
import { answer } from '../../act/resize-answers.ts';
import type { ResourceAdvice } from '../../decide/rightsizing/advice.ts';
import { watchChange } from '../../decide/rightsizing/watched-change.ts';
import { aSizedWorkload, smallSize } from '../../model/testing/sizing-records.ts';
import type { Advised } from './advise.ts';
import { AttemptResults, cappedResult, resultAtRest, resultOfWaiting } from './apply-result.ts';
import { createRightsizingMemory } from './memory.ts';
import type { ApplyResult, AttemptOutcome } from './result.ts';

const web = aSizedWorkload();
const memory = () => createRightsizingMemory().of('u');
const blocked = (
  reason: 'ChangePace' | 'VpaSizesWorkload' | 'ChangeBackoff',
  retryAfterMillis?: number,
): AttemptOutcome => ({
  kind: 'blocked',
  block: { rule: 'r', reason, message: 'm', advice: 'a', retryAfterMillis },
});
const refused = (reason: Parameters<typeof answer>[0], action: Parameters<typeof answer>[1]): AttemptOutcome => ({
  kind: 'refused',
  answer: answer(reason, action, 'cause'),
});

describe('an attempt that did not go through', () => {
  test.each<[string, AttemptOutcome, object | undefined]>([
    ['waits for its turn', blocked('ChangePace', 9), { status: 'Pending', reason: 'ChangePace', againAfterMillis: 9 }],
    ['somebody has to act', blocked('VpaSizesWorkload'), { status: 'Skipped', reason: 'VpaSizesWorkload' }],
    ['went through', { kind: 'asked', tookFrom: [] }, undefined],
    ['its pod is gone', { kind: 'gone' }, undefined],
    ['forbidden', refused('ResizeForbidden', 'give-up'), { status: 'Error', reason: 'RBACError', isForbidden: true }],
    [
      'a quota, which is asked again, and which somebody has to raise',
      refused('ResizeQuotaDenied', 'wait'),
      { status: 'Skipped', reason: 'ResizeQuotaDenied', againAfterMillis: 15_000 },
    ],
    ['a node is not known yet', refused('ResizeNodeUnknown', 'wait'), { status: 'Pending', againAfterMillis: 15_000 }],
    [
      'a webhook says no',
      refused('ResizeAdmissionDenied', 'give-up'),
      { status: 'Skipped', reason: 'ResizeAdmissionDenied' },
    ],
  ])('%s', (_, attempt, expected) => {
    const outcome = new AttemptResults().note(web, attempt);
    if (expected === undefined) expect(outcome).toBeUndefined();
    else expect(outcome).toMatchObject(expected);
  });

  test('during the pause after a refusal the refusal is the reason', () => {
    const results = new AttemptResults();
    results.note(web, refused('ResizeForbidden', 'give-up'));
    expect(results.isRefused).toBe(true);
    expect(results.note(web, blocked('ChangeBackoff', 5))).toMatchObject({
      reason: 'RBACError',
      againAfterMillis: 5,
    });
    results.note(web, { kind: 'asked', tookFrom: [] });
    expect(results.note(web, blocked('ChangeBackoff', 5))).toMatchObject({ reason: 'ChangeBackoff' });
  });
});

describe('at rest', () => {
  const advice = (held: ResourceAdvice['held']): ResourceAdvice => ({
    target: 1,
    request: 1,
    limit: undefined,
    isDue: false,
    held,
    notes: [{ stage: 'change', value: 1, text: 'the last note' }],
  });
  const advised = (cpu: ResourceAdvice['held'], ram: ResourceAdvice['held']): Advised => ({
    workload: web,
    pods: [],
    at: 0,
    inForce: [],
    lessons: { floors: [], reverts: 0 },
    advice: [{ container: 'app', current: smallSize, cpu: advice(cpu), memory: advice(ram) }],
    hasUsage: true,
  });

  test('what holds the advice back is told, the most telling first', () => {
    const outcome = resultAtRest(advised('WithinMinChange', 'HpaTarget'), memory());
    expect(outcome).toMatchObject({ status: 'Skipped', reason: 'HpaTarget' });
    expect(outcome.message).toBe(
      'A HorizontalPodAutoscaler scales by the utilization of memory of container app: the last note',
    );
  });

  test.each(['QuotaExceeded', 'GuaranteedKept', 'HpaScalePoint', 'UsageUnread'] as const)(
    '%s, which wants somebody, is told first, and nothing is called applied meanwhile, though it once was',
    (held) => {
      const own = memory();
      own.times.noteApplied(5, 'InPlace');
      expect(resultAtRest(advised('Cooldown', held), own)).toMatchObject({ status: 'Skipped', reason: held });
      expect(resultAtRest(advised('Cooldown', 'WithinMinChange'), own)).toMatchObject({
        status: 'Applied',
        reason: 'Cooldown',
      });
    },
  );

  test('what has been applied and is as it should be is Applied', () => {
    const own = memory();
    own.times.noteApplied(5, 'InPlace');
    expect(resultAtRest(advised('WithinMinChange', 'WithinMinChange'), own)).toEqual({ status: 'Applied' });
    expect(resultAtRest(advised(undefined, undefined), memory())).toEqual({ status: 'Applied' });
  });

  test('rightsizing bug 21: what is needed beyond a maximum is told, also where all is as advised', () => {
    const own = memory();
    own.times.noteApplied(5, 'InPlace');
    const capped = { ...advice('WithinMinChange'), capped: 'AtMax' } as const;
    const stuck = { ...advised('WithinMinChange', 'WithinMinChange') };
    const of = (cpu: ResourceAdvice, ram: ResourceAdvice): Advised => ({
      ...stuck,
      advice: [{ container: 'app', current: smallSize, cpu, memory: ram }],
    });
    expect(resultAtRest(of(advice('WithinMinChange'), capped), own)).toEqual({
      status: 'Applied',
      reason: 'AtMax',
      message: 'More memory of container app is needed than the policy allows: the last note',
    });
    // What somebody else has a say in comes first.
    expect(resultAtRest(of(advice('HpaTarget'), capped), own).reason).toBe('HpaTarget');
    expect(cappedResult(of(capped, advice('Cooldown')).advice)?.reason).toBe('AtMax');
    expect(cappedResult(stuck.advice)).toBeUndefined();
  });

  test('what is due waits for what is watched; a decrease that is not worth it is told rather; else it is at rest', () => {
    const own = memory();
    const held: ApplyResult = { status: 'Pending', reason: 'RestartTogether', againAfterMillis: 60_000 };
    const rest = advised(undefined, undefined);
    expect(resultOfWaiting(rest, own, { isDue: false })).toEqual({ status: 'Applied' });
    expect(resultOfWaiting(rest, own, { isDue: true })).toMatchObject({ status: 'Pending', reason: 'ChangeWatched' });
    expect(resultOfWaiting(rest, own, { isDue: true, held })).toEqual(held);
  });

  test('while a change is watched the workload is looked at again soon, whatever is told', () => {
    const own = memory();
    const watched = watchChange([{ container: 'app', to: { cpuRequest: 1 } }], [], [], 0);
    own.watches.begin({
      ...watched,
      method: 'Recreate',
      phase: 'spread',
      canary: undefined,
    });
    const held: ApplyResult = { status: 'Pending', reason: 'RestartTogether', againAfterMillis: 60_000 };
    for (const waiting of [{ isDue: false }, { isDue: true }, { isDue: true, held }]) {
      expect(resultOfWaiting(advised(undefined, undefined), own, waiting).againAfterMillis).toBe(5_000);
    }
  });
});
