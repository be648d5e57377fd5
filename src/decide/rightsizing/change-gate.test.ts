import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ChangeQuestion, judgeChange } from './change-gate.ts';
import type { ChangeRules } from './policy.ts';

const HOUR = 3_600_000;
const rules: ChangeRules = {
  minChange: 0.1,
  minAmount: 5,
  cooldownUpMillis: HOUR,
  cooldownDownMillis: 24 * HOUR,
  maxStepDown: 1,
};
const question: ChangeQuestion = {
  current: 1000,
  advised: 1500,
  lastChangeAt: undefined,
  now: 100 * HOUR,
  gain: undefined,
};

describe('change gate', () => {
  test.each<[string, Partial<ChangeQuestion>, string | undefined]>([
    ['a large change is due', {}, undefined],
    ['no request yet: any value is due', { current: undefined, advised: 1 }, undefined],
    ['the same value never is', { advised: 1000 }, 'WithinMinChange'],
    ['nor one a hair apart', { advised: 1099 }, 'WithinMinChange'],
    ['a tenth is enough', { advised: 1100 }, undefined],
    ['so is a tenth down', { advised: 900 }, undefined],
    ['a few millicores, however large a share', { current: 6, advised: 10 }, 'WithinMinChange'],
    ['a few more', { current: 6, advised: 11 }, undefined],
    ['a gain too small', { gain: { actual: 0.04, needed: 0.05 } }, 'GainTooSmall'],
    ['a gain large enough', { gain: { actual: 0.05, needed: 0.05 } }, undefined],
    ['up within the cooldown', { lastChangeAt: 99.5 * HOUR }, 'Cooldown'],
    ['up after it', { lastChangeAt: 99 * HOUR }, undefined],
    ['down within its own, longer cooldown', { advised: 500, lastChangeAt: 90 * HOUR }, 'Cooldown'],
    ['down after it', { advised: 500, lastChangeAt: 76 * HOUR }, undefined],
  ])('%s', (_name, given, held) => {
    expect(judgeChange({ ...question, ...given }, rules)).toMatchObject({ held, isDue: held === undefined });
  });

  test('a request of 0 has no ratio to anything: what is more by the least amount is due, and no text has an infinite share', () => {
    const up = (advised: number) => judgeChange({ ...question, current: 0, advised }, rules);
    expect(up(0)).toMatchObject({ held: 'WithinMinChange', text: 'equal to the current request' });
    expect(up(4)).toMatchObject({ held: 'WithinMinChange', text: '4 from the current request, less than 5' });
    expect(up(5)).toMatchObject({ isDue: true, text: 'up from 0' });
  });

  test('a cooldown says until when', () => {
    const { text } = judgeChange({ ...question, lastChangeAt: 99.5 * HOUR }, rules);
    expect(text).toBe('no change up until 1970-01-05T04:30:00.000Z');
  });

  test('rightsizing bug 6, 8: with no threshold at all, the same value still never acts', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e12 }), (value) => {
        const none = { ...rules, minChange: 0, minAmount: 0, cooldownUpMillis: 0, cooldownDownMillis: 0 };
        expect(judgeChange({ ...question, current: value, advised: value }, none).isDue).toBe(false);
      }),
    );
  });

  test('for any question, what is applied is not due again at once', () => {
    const amount = fc.integer({ min: 1, max: 1e9 });
    fc.assert(
      fc.property(amount, amount, (current, advised) => {
        const first = judgeChange({ ...question, current, advised }, rules);
        if (!first.isDue) return;
        expect(judgeChange({ ...question, current: advised, advised, lastChangeAt: question.now }, rules).isDue).toBe(
          false,
        );
      }),
      { numRuns: 200 },
    );
  });
});
