import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SizeChange } from '../../model/pod-size.ts';
import { NOON } from '../../model/testing/records.ts';
import { aContainer } from '../../model/testing/sizing-records.ts';
import { notWorthRestart, type RestartQuestion } from './worth-a-restart.ts';

const HOUR = 3_600_000;
const rules = { minShare: 0.2, cooldownMillis: HOUR };
const inForce = [aContainer({ size: { cpuRequest: 1000, memoryRequest: 1000, memoryLimit: 2000 } })];
const to = (size: SizeChange['to'], container = 'app'): SizeChange => ({ container, to: size });
const question = (changes: Partial<RestartQuestion> = {}): RestartQuestion => ({
  beginning: { raises: [], decreases: [to({ cpuRequest: 500 })] },
  inForce,
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
