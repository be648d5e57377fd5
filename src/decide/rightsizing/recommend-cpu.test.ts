import { describe, expect, test } from 'vitest';
import { percentilesOf } from '../../model/usage-window.ts';
import { defaultPolicy } from './policy.ts';
import type { KnownWindow } from './recommend.ts';
import { recommendCpu } from './recommend-cpu.ts';
import { percentilePolicy, profileOf, questionAt, unset } from './testing/profiles.ts';

const STEPS = 600;

const FOUR_HOURS = 4 * 3_600_000;

describe('CPU advice', () => {
  test('names mean, value and the share of time above it', () => {
    const { notes } = recommendCpu(questionAt(STEPS, profileOf(STEPS, { cpu: () => 200 })));
    expect(notes[0]?.text).toMatch(
      /^least expected cost at 20\dm: usage 20\dm on average, above it \d(?:\.\d)? % of the time$/,
    );
  });

  test('leaves bursts of a few minutes a day to free capacity', () => {
    const profile = profileOf(STEPS, { cpu: (step) => (step % 288 === 5 ? 3900 : 50) });
    expect(recommendCpu(questionAt(STEPS, profile)).request).toBeLessThan(60);
  });

  test('covers bursts that come every half hour', () => {
    const profile = profileOf(STEPS, { cpu: (step) => (step % 6 < 2 ? 1900 : 500) });
    expect(recommendCpu(questionAt(STEPS, profile)).request).toBeGreaterThan(1850);
  });

  test('a change up that saves too little of the cost is held', () => {
    const profile = profileOf(STEPS, { cpu: (step) => (step % 200 === 5 ? 240 : 200) });
    const advice = recommendCpu(questionAt(STEPS, profile, { cpu: { ...unset, request: 212 } }));
    expect(advice).toMatchObject({ isDue: false });
    expect(['GainTooSmall', 'WithinMinChange']).toContain(advice.held);
  });

  test('a limit that stays caps the request, and says so', () => {
    const profile = profileOf(STEPS, { cpu: () => 900 });
    const advice = recommendCpu(questionAt(STEPS, profile, { cpu: { ...unset, request: 100, limit: 500 } }));
    expect(advice).toMatchObject({ request: 500, limit: undefined, isDue: true });
    expect(advice.notes.find(({ stage }) => stage === 'limit')?.text).toContain('the limit of 500 stays');
  });

  test.each<[string, number, number, number, boolean]>([
    ['10 minutes of a day', 24, 10, 1, false],
    ['17 hours of a day', 24, 17 * 60, 1, false],
    ['19 hours of a day', 24, 19 * 60, 1, true],
    ['50 minutes of an hour', 1, 50, 1, true],
    ['a day of a week', 7 * 24, 24 * 60, 1, true],
    ['10 minutes of a day, and more is needed', 24, 10, 100, true],
  ])('by a window in which %s are known', (_, hours, minutes, usage, isDue) => {
    const question = questionAt(STEPS, profileOf(STEPS, { cpu: () => 200 }), { policy: percentilePolicy(90, 1.2) });
    const to = question.now;
    const since = { cpu: to - minutes * 60_000 };
    const window = { from: to - hours * 3_600_000, to, cpu: percentilesOf([usage]), memory: undefined, since };
    const advice = recommendCpu({ ...question, window, cpu: { ...unset, request: 50 } });
    expect(advice).toMatchObject(isDue ? { isDue } : { isDue, held: 'LowConfidence', request: 50 });
  });

  test('Max: of a window that was drawn from the samples the highest of the last day counts', () => {
    const profile = profileOf(STEPS, { cpu: (step) => (step === 500 ? 2000 : step === 5 ? 3900 : 100) });
    const target = { strategy: 'Max', lookBackMillis: 1, safetyFactor: 1.1 } as const;
    const policy = { ...defaultPolicy, cpu: { ...defaultPolicy.cpu, target } };
    const question = questionAt(STEPS, profile, { policy });
    const seen = {
      from: question.now - 24 * 3_600_000,
      to: question.now,
      cpu: percentilesOf([100]),
      memory: undefined,
    };
    const requestBy = (window: KnownWindow) => recommendCpu({ ...question, window }).request;
    expect(requestBy(seen)).toBe(110);
    const drawn = requestBy({ ...seen, isSampled: true });
    expect(drawn).toBeGreaterThanOrEqual(2200);
    expect(drawn).toBeLessThan(2400);
    expect(requestBy({ ...seen, from: question.now - 3_600_000, isSampled: true })).toBeLessThan(150);
    // Drawn itself, it is known better than by its bucket.
    expect(requestBy({ ...seen, cpu: percentilesOf([100, 2000]), isSampled: true })).toBe(2200);
  });

  test('a short history raises and never lowers', () => {
    const profile = profileOf(13, { cpu: () => 200 });
    const fresh = recommendCpu(questionAt(13, profile));
    expect(fresh.request).toBeGreaterThan(290);
    expect(fresh.request).toBeLessThan(312);
    const lower = recommendCpu(questionAt(13, profile, { cpu: { ...unset, request: 2000 } }));
    expect(lower).toMatchObject({ request: 2000, isDue: false, held: 'LowConfidence' });
  });

  test('a maximum far below the use is no reason to stay even lower', () => {
    const profile = profileOf(STEPS, { cpu: () => 900 });
    const policy = { ...defaultPolicy, cpu: { ...defaultPolicy.cpu, bounds: { min: 1, max: 300 } } };
    const advice = recommendCpu(questionAt(STEPS, profile, { policy, cpu: { ...unset, request: 100 } }));
    expect(advice).toMatchObject({ request: 300, isDue: true });
  });

  test('no request yet is one', () => {
    const advice = recommendCpu(questionAt(STEPS, profileOf(STEPS, { cpu: () => 0.2 })));
    expect(advice.request).toBe(1);
  });

  test('optipod 1: the shipped strategy has the percentile, the factor, and no fraction', () => {
    const profile = profileOf(STEPS, { cpu: () => 100 });
    const advice = recommendCpu(questionAt(STEPS, profile, { policy: percentilePolicy(90, 1.2) }));
    expect(advice.notes[0]?.text).toMatch(/^P90 of usage 10\dm times 1\.20$/);
    expect(Number.isInteger(advice.notes[0]?.value)).toBe(true);
  });

  test('a decrease waits four hours after a change, an increase one', () => {
    const profile = profileOf(STEPS, { cpu: () => 200 });
    const now = (STEPS - 1) * 300_000;
    const ask = (request: number, lastChangeAt: number) =>
      recommendCpu(questionAt(STEPS, profile, { cpu: { ...unset, request, lastChangeAt } })).held;
    expect(ask(1000, now - FOUR_HOURS + 1)).toBe('Cooldown');
    expect(ask(1000, now - FOUR_HOURS)).toBeUndefined();
    expect(ask(50, now - 3_599_999)).toBe('Cooldown');
    expect(ask(50, now - 3_600_000)).toBeUndefined();
    expect(defaultPolicy.cpu.change.cooldownDownMillis).toBe(FOUR_HOURS);
  });
});
