import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SizeDecision } from '../../../decide/size-decision.ts';
import { NOON } from '../../../model/testing/records.ts';
import { aContainer, aSizedPod } from '../../../model/testing/sizing-records.ts';
import type { DisruptionState } from '../disruption-state.ts';
import { inspectSizeAll } from '../inspect-size.ts';
import {
  aDisruptionState,
  hourFrom,
  pods,
  reasonsFor,
  replicaSet,
  resize,
  retemplate,
  sizeScene,
} from '../testing/size-scene.ts';

const containers = [aContainer({ cpuRestart: 'RestartContainer' })];
const restarting = pods.map(({ name, uid }) => aSizedPod(replicaSet, name, { containers }, { uid }));

describe('a new template draws on the budget of disruption', () => {
  test.each<[string, Partial<DisruptionState>, readonly string[]]>([
    ['nothing is under way', {}, []],
    ['the window is open', { window: hourFrom('0 12 * * *') }, []],
    ['the window is closed', { window: hourFrom('0 2 * * *') }, ['OutsideWindow']],
    [
      'the window cannot be read',
      { unreadable: { name: 'InvalidConfiguration', message: 'it is not valid', advice: '' } },
      ['InvalidConfiguration'],
    ],
    ['a pod was evicted a moment ago', { last: NOON - 9_999 }, ['CooldownActive']],
    ['a pod was evicted a cooldown ago', { last: NOON - 10_000 }, []],
    ['spot nodes are being lost', { storm: { lost: 5, calmAt: NOON + 60_000 } }, ['StormCalm']],
    ['a place is left', { inFlight: 1 }, []],
    ['no place is left', { inFlight: 2 }, ['ConcurrencyLimit']],
    ['the limit was lowered meanwhile', { inFlight: 5 }, ['ConcurrencyLimit']],
  ])('%s', (_, changes, expected) => {
    expect(reasonsFor(retemplate(), { disruption: aDisruptionState(changes) })).toEqual(expected);
  });

  test('the cooldown survives a failover, however short the warm-up of sizes: a new leader has not seen what its predecessor disrupted', () => {
    const ask = (decision: SizeDecision, now: number) =>
      inspectSizeAll(
        decision,
        sizeScene({
          records: { pods: restarting },
          settings: { warmUpMillis: 0 },
          leadership: { leader: true, sinceMillis: NOON },
          disruption: aDisruptionState({ cooldownMillis: 10_000 }),
          now,
        }),
      );
    for (const decision of [retemplate(), resize()]) {
      expect(ask(decision, NOON + 9_999)).toMatchObject([{ reason: 'LeaderWarmup', retryAfterMillis: 1 }]);
      expect(ask(decision, NOON + 10_000)).toEqual([]);
    }
    expect(ask(resize({ isRestore: true }), NOON)).toEqual([]);
  });

  test('a restart that puts back what did harm waits for a place, and for no better time', () => {
    const reasonsOf = (isRestore: boolean, changes: Partial<DisruptionState>) =>
      reasonsFor(resize({ isRestore }), { records: { pods: restarting }, disruption: aDisruptionState(changes) });
    const untimely = {
      window: hourFrom('0 2 * * *'),
      last: NOON,
      storm: { lost: 5, calmAt: NOON + 60_000 },
    };
    expect(reasonsOf(false, untimely)).toEqual(['StormCalm', 'OutsideWindow', 'CooldownActive']);
    expect(reasonsOf(true, untimely)).toEqual([]);
    expect(reasonsOf(true, { ...untimely, inFlight: 2 })).toEqual(['ConcurrencyLimit']);
  });

  test('what waits for time says when', () => {
    const ask = (changes: Partial<DisruptionState>) =>
      inspectSizeAll(retemplate(), sizeScene({ disruption: aDisruptionState(changes) }))[0]?.retryAfterMillis;
    expect(ask({ last: NOON - 4_000 })).toBe(6_000);
    expect(ask({ window: hourFrom('0 2 * * *') })).toBe(14 * 3_600_000);
    expect(ask({ storm: { lost: 5, calmAt: NOON + 60_000 } })).toBe(60_000);
  });

  test('allocation bug 14: for any state, a resize in place disrupts nobody, whatever evictions wait for (k/a#10181)', () => {
    const states = fc.record({
      last: fc.option(fc.integer({ min: 0, max: NOON }), { nil: undefined }),
      inFlight: fc.nat(10),
      isClosed: fc.boolean(),
      storm: fc.option(fc.constant({ lost: 5, calmAt: NOON + 60_000 }), { nil: undefined }),
    });
    fc.assert(
      fc.property(states, ({ isClosed, ...rest }) => {
        const disruption = aDisruptionState({ ...rest, window: isClosed ? hourFrom('0 2 * * *') : undefined });
        expect(reasonsFor(resize(), { disruption })).toEqual([]);
      }),
    );
  });

  test('for any number under way, one more begins only below the limit', () => {
    fc.assert(
      fc.property(fc.nat(10), fc.integer({ min: 1, max: 10 }), (inFlight, limit) => {
        const reasons = reasonsFor(retemplate(), { disruption: aDisruptionState({ inFlight, limit }) });
        expect(reasons).toEqual(inFlight < limit ? [] : ['ConcurrencyLimit']);
      }),
    );
  });
});
