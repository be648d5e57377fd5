import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SizeChange } from '../../model/pod-size.ts';
import { NOON } from '../../model/testing/records.ts';
import { aContainer } from '../../model/testing/sizing-records.ts';
import type { ResourceAdvice, StageNote } from './advice.ts';
import { dueAdvice } from './testing/advice.ts';
import { notWorthRestart, type RestartQuestion } from './worth-a-restart.ts';

const HOUR = 3_600_000;
const rules = { minShare: 0.2, cooldownMillis: HOUR };
const inForce = [aContainer({ size: { cpuRequest: 1000, memoryRequest: 1000, memoryLimit: 2000 } })];
const to = (size: SizeChange['to'], container = 'app'): SizeChange => ({ container, to: size });
const question = (changes: Partial<RestartQuestion> = {}): RestartQuestion => ({
  beginning: { raises: [], decreases: [to({ cpuRequest: 500 })] },
  inForce,
  advice: [],
  maxStepDown: 0.5,
  lastChangeAt: undefined,
  now: NOON,
  ...changes,
});
const less = (...decreases: readonly SizeChange[]) => question({ beginning: { raises: [], decreases } });

describe('less', () => {
  test.each<[string, RestartQuestion, string | undefined]>([
    ['half of something', question(), undefined],
    ['a fifth', less(to({ cpuRequest: 800 })), undefined],
    ['a seventh', less(to({ cpuRequest: 860 })), 'TooLittleToRestart'],
    ['a tenth', less(to({ cpuRequest: 900 })), 'TooLittleToRestart'],
    ['a tenth of each of two', less(to({ cpuRequest: 900, memoryRequest: 900 })), 'TooLittleToRestart'],
    ['a tenth along with a half', less(to({ cpuRequest: 900, memoryRequest: 500 })), undefined],
    ['a limit', less(to({ memoryLimit: 1000 })), undefined],
    ['a lower request with a higher limit', less(to({ cpuRequest: 500, memoryLimit: 4000 })), undefined],
    ['a container that is not there', less(to({ cpuRequest: 1 }, 'gone')), 'TooLittleToRestart'],
    ['nothing at all', less(), undefined],
  ])('%s', (_, given, expected) => {
    expect(notWorthRestart(given, rules)?.reason).toBe(expected);
  });

  test('a step as large as the policy lets it be is enough, however small', () => {
    const small = { ...less(to({ cpuRequest: 951 })), maxStepDown: 0.05 };
    expect(notWorthRestart(small, rules)).toBeUndefined();
    expect(notWorthRestart({ ...small, maxStepDown: 0.1 }, rules)?.reason).toBe('TooLittleToRestart');
  });

  test('the next one waits until the last change is an hour ago', () => {
    const at = (ago: number) => notWorthRestart(question({ lastChangeAt: NOON - ago }), rules);
    expect(at(HOUR - 1)).toEqual({ reason: 'RestartCooldown', remainingMillis: 1 });
    expect(at(HOUR)).toBeUndefined();
  });
});

describe('more', () => {
  const advised = (...stages: readonly [StageNote['stage'], number][]): ResourceAdvice => ({
    ...dueAdvice(1100),
    notes: stages.map(([stage, value]) => ({ stage, value, text: '' })),
  });
  const cut = advised(['target', 3000], ['quota', 1100], ['change', 1100]);
  const more = (
    raise: SizeChange['to'],
    { cpu = cut, memory = cut, ...changes }: { cpu?: ResourceAdvice; memory?: ResourceAdvice; lastChangeAt?: number },
  ) =>
    question({
      beginning: { raises: [to(raise)], decreases: [to({ memoryRequest: 1 })] },
      advice: [{ container: 'app', current: {}, cpu, memory }],
      lastChangeAt: NOON - HOUR / 4,
      ...changes,
    });
  test.each<[string, RestartQuestion, boolean]>([
    ['a crumb that a quota leaves waits', more({ cpuRequest: 1199 }, {}), true],
    ['one that nodes leave, too', more({ cpuRequest: 1100 }, { cpu: advised(['target', 9], ['node-size', 5]) }), true],
    ['until the last change is an hour ago', more({ cpuRequest: 1100 }, { lastChangeAt: NOON - HOUR }), false],
    ['a fifth does not', more({ cpuRequest: 1200 }, {}), false],
    ['nor a crumb that is all that is needed', more({ cpuRequest: 1100 }, { cpu: advised(['target', 1100]) }), false],
    ['nor one beside more', more({ cpuRequest: 1100, memoryRequest: 1200 }, {}), false],
    [
      'nor one beside all that is needed',
      more({ cpuRequest: 1100, memoryRequest: 1100 }, { memory: advised(['target', 1100]) }),
      false,
    ],
    ['two crumbs do', more({ cpuRequest: 1100, memoryRequest: 1100 }, {}), true],
    [
      'what a policy bounds is no crumb',
      more({ cpuRequest: 1100 }, { cpu: advised(['target', 9], ['bounds', 5]) }),
      false,
    ],
    [
      'a container that was killed waits for nothing',
      more({ memoryRequest: 1100 }, { memory: advised(['target', 9], ['out-of-memory', 12], ['quota', 5]) }),
      false,
    ],
    ['nor does one that has no request yet', more({ cpuLimit: 1 }, {}), false],
  ])('%s', (_, given, isHeld) => {
    expect(notWorthRestart(given, rules)?.reason).toBe(isHeld ? 'RaiseCutShort' : undefined);
  });

  test('how little it is and how long it waits is told', () => {
    const share = 0.1;
    expect(notWorthRestart(more({ cpuRequest: 1100 }, {}), rules)).toEqual({
      reason: 'RaiseCutShort',
      share,
      remainingMillis: (HOUR * 3) / 4,
    });
  });
});

test('along with a raise everything goes, at any time', () => {
  const beginning = { raises: [to({ memoryRequest: 1001 })], decreases: [to({ cpuRequest: 999 })] };
  expect(notWorthRestart(question({ beginning, lastChangeAt: NOON }), rules)).toBeUndefined();
});

test('for any target far below and any step, there are at most so many restarts an hour, and they get there', () => {
  const step = fc.double({ min: 0.05, max: 1, noNaN: true });
  fc.assert(
    fc.property(step, fc.integer({ min: 100, max: 900 }), (maxStepDown, target) => {
      let current = 1000;
      let restarts = 0;
      let lastChangeAt: number | undefined;
      const end = NOON + 200 * HOUR;
      for (let now = NOON; now < end; now += 60_000) {
        const next = Math.max(target, Math.ceil(current * (1 - maxStepDown)));
        if (next >= current) break;
        const size = { cpuRequest: current };
        const given = {
          ...less(to({ cpuRequest: next })),
          inForce: [aContainer({ size })],
          maxStepDown,
          lastChangeAt,
          now,
        };
        if (notWorthRestart(given, rules) !== undefined) continue;
        current = next;
        lastChangeAt = now;
        restarts++;
      }
      expect(restarts).toBeLessThanOrEqual(200);
      // What is left over is less than what is worth it.
      expect(current * (1 - Math.min(rules.minShare, maxStepDown)) - 2).toBeLessThanOrEqual(target);
    }),
    { numRuns: 100 },
  );
});
