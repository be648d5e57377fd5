import { describe, expect, test } from 'vitest';
import { type SpotOutlook, type SpotState, untroubledSpot } from '../../decide/placement/spot-outlook.ts';
import { NOON } from '../../model/testing/records.ts';
import type { GuardContext } from '../context.ts';
import { createDisruptionLog } from '../history.ts';
import { evict, managed, pods, restamp, scene, web, windowOf } from '../testing/scene.ts';
import { calm, returnsPaced, spotOpen } from './spot.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const toSpot = evict({
  from: 'on-demand',
  to: 'spot',
  isReturn: true,
  pod: { namespace: 'shop', name: 'o1', uid: 'o1' },
});

const [subjectPod] = pods;
if (subjectPod === undefined) throw new Error('the scene has pods');
const subjectOf = (decision: ReturnType<typeof evict> | ReturnType<typeof restamp>) => ({
  decision,
  workload: web,
  pod: subjectPod,
  pods,
});

function withSpot(changes: Partial<SpotOutlook>): GuardContext {
  return scene({ spot: { ...untroubledSpot, ...changes } });
}

describe('hazard H8: calm', () => {
  const storm = withSpot({ storm: () => ({ lost: 4, calmAt: NOON + 7 * MINUTE }) });

  test('in a storm nothing is moved to either side before it is over', () => {
    for (const decision of [evict(), toSpot]) {
      expect(calm.check(subjectOf(decision), storm)).toMatchObject({
        reason: 'StormCalm',
        retryAfterMillis: 7 * MINUTE,
      });
    }
  });

  test('corrections of stamps disrupt nobody and go on', () => {
    expect(calm.appliesTo).toBe('eviction');
    expect(calm.check(subjectOf(restamp()), storm)).toBeUndefined();
  });

  test('on a quiet day, or with nothing known, there is no objection', () => {
    expect(calm.check(subjectOf(evict()), withSpot({}))).toBeUndefined();
    expect(calm.check(subjectOf(evict()), scene())).toBeUndefined();
  });
});

describe('hazard H6: spot-open', () => {
  const inState = (state: SpotState) => withSpot({ stateOf: () => state });

  test('closed: nothing moves to spot until it is tried again', () => {
    const context = inState({ kind: 'closed', since: NOON, until: NOON + 2 * MINUTE });
    expect(spotOpen.check(subjectOf(toSpot), context)).toMatchObject({
      reason: 'SpotClosed',
      message: expect.stringContaining('2m'),
      retryAfterMillis: 2 * MINUTE,
    });
  });

  test('moves away from spot are not concerned', () => {
    const context = inState({ kind: 'closed', since: NOON, until: NOON + 2 * MINUTE });
    expect(spotOpen.check(subjectOf(evict()), context)).toBeUndefined();
  });

  test('one probe may go, a second one waits', () => {
    const free = inState({ kind: 'probing', since: NOON, isTaken: false });
    const taken = inState({ kind: 'probing', since: NOON, isTaken: true });
    expect(spotOpen.check(subjectOf(toSpot), free)).toBeUndefined();
    expect(spotOpen.check(subjectOf(toSpot), taken)).toMatchObject({ reason: 'SpotProbing', retryAfterMillis: MINUTE });
  });

  test('open, or with nothing known, there is no objection', () => {
    expect(spotOpen.check(subjectOf(toSpot), inState({ kind: 'open' }))).toBeUndefined();
    expect(spotOpen.check(subjectOf(toSpot), scene())).toBeUndefined();
  });
});

describe('bug 9: returns-paced', () => {
  function returned(...minutesAgo: number[]) {
    const history = createDisruptionLog({ initial: MINUTE, max: HOUR });
    for (const minutes of minutesAgo) history.recordReturn(web.uid, NOON - minutes * MINUTE);
    return history;
  }
  const fallback = (returnPerWindow: number) => ({
    fallback: { afterMillis: 300_000, returnPerWindow, maxConcurrent: 50, maxPercent: 100 },
  });

  test('always open: one an hour', () => {
    const context = scene({ history: returned(20) });
    expect(returnsPaced.check(subjectOf(toSpot), context)).toMatchObject({
      reason: 'ReturnPaced',
      retryAfterMillis: 40 * MINUTE,
    });
    expect(returnsPaced.check(subjectOf(toSpot), scene({ history: returned(60) }))).toBeUndefined();
  });

  test('two an hour: the elder one makes room', () => {
    const settings = fallback(2);
    expect(returnsPaced.check(subjectOf(toSpot), scene({ history: returned(20), settings }))).toBeUndefined();
    const context = scene({ history: returned(50, 20), settings });
    expect(returnsPaced.check(subjectOf(toSpot), context)).toMatchObject({ retryAfterMillis: 10 * MINUTE });
  });

  test('in a window: what returned in it counts, what returned before it does not', () => {
    const window = windowOf('0 11 * * *', '2h');
    const policy = { ...managed, window };
    const inside = scene({ history: returned(30), policy });
    expect(returnsPaced.check(subjectOf(toSpot), inside)).toMatchObject({
      reason: 'ReturnPaced',
      // Tomorrow at eleven.
      retryAfterMillis: 23 * HOUR,
    });
    expect(returnsPaced.check(subjectOf(toSpot), scene({ history: returned(90), policy }))).toBeUndefined();
  });

  test.each([
    ['all of a long window counts, not only its last hour', '0 10 * * *', 3, [90], 'ReturnPaced'],
    ['what returned before the window does not, however lately', '30 11 * * *', 1, [45], undefined],
    ['nor what returned in the window of yesterday', '0 11 * * *', 2, [24 * 60 - 5], undefined],
    ['nor at this time a week ago', '0 11 * * *', 2, [7 * 24 * 60], undefined],
  ] as const)('%s', (_, schedule, hours, minutesAgo, reason) => {
    const policy = { ...managed, window: windowOf(schedule, `${hours}h`) };
    const context = scene({ history: returned(...minutesAgo), policy });
    expect(returnsPaced.check(subjectOf(toSpot), context)?.reason).toBe(reason);
  });

  test('other moves have only the cooldown', () => {
    const context = scene({ history: returned(1, 2, 3) });
    expect(returnsPaced.check(subjectOf(evict({ from: 'on-demand', to: 'spot' })), context)).toBeUndefined();
  });
});
