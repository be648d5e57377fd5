import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { percentilesOf } from '../../model/usage-window.ts';
import { defaultPolicy } from './policy.ts';
import type { RecommendInput } from './recommend.ts';
import { recommendMemory } from './recommend-memory.ts';
import { DAY, HOUR, MIB, percentilePolicy, profileOf, questionAt, unset } from './testing/profiles.ts';

const STEPS = 600;
const STEP = 300_000;

describe('memory advice', () => {
  test('is the peak and room above it, in whole MiB', () => {
    const profile = profileOf(STEPS, { memory: () => 333.3 * MIB });
    const advice = recommendMemory(questionAt(STEPS, profile));
    expect(advice.request).toBe(367 * MIB);
    expect(advice.notes.map(({ stage }) => stage)).toEqual(['target', 'rounding', 'change']);
  });

  test('is trusted after as many samples as asked for', () => {
    const profile = profileOf(0, {});
    const policy = { ...defaultPolicy, minHistoryMillis: 0, minSamples: 10 };
    const memory = { ...unset, request: 500 * MIB };
    const adviceAt = (sample: number) => {
      profile.add({ at: sample * STEP, memory: 100 * MIB });
      return recommendMemory({ ...questionAt(1, profile, { policy, memory }), now: sample * STEP });
    };
    for (let sample = 1; sample < 10; sample++) {
      expect(adviceAt(sample)).toMatchObject({ isDue: false, held: 'LowConfidence', request: 500 * MIB });
    }
    expect(adviceAt(10)).toMatchObject({ isDue: true, request: 250 * MIB });
  });

  test('after days without a pod the first minutes lower nothing; the better part of a day does', () => {
    const profile = profileOf((3 * DAY) / STEP, { memory: () => 500 * MIB });
    const memory = { ...unset, request: 600 * MIB };
    const back = 7 * DAY;
    const adviceAt = (now: number) => recommendMemory({ ...questionAt(1, profile, { memory }), now });
    for (let at = back; at < back + 18 * HOUR; at += STEP) {
      profile.add({ at, memory: 100 * MIB });
      expect(adviceAt(at)).toMatchObject({
        isDue: false,
        held: 'LowConfidence',
        request: 600 * MIB,
        readyAt: back + 18 * HOUR,
      });
      expect(adviceAt(at).notes.find(({ stage }) => stage === 'confidence')?.text).toMatch(/ only [\d.]+ h are known$/);
    }
    profile.add({ at: back + 18 * HOUR, memory: 100 * MIB });
    expect(adviceAt(back + 18 * HOUR)).toMatchObject({ isDue: true, request: 300 * MIB });
  });

  test('a pod that is there by day alone is lowered by what it uses', () => {
    const profile = profileOf(0, {});
    const now = 5 * DAY + 12 * HOUR;
    for (let at = 0; at <= now; at += STEP)
      if (at % DAY >= 8 * HOUR && at % DAY < 18 * HOUR) profile.add({ at, memory: 100 * MIB });
    const memory = { ...unset, request: 600 * MIB };
    expect(recommendMemory({ ...questionAt(1, profile, { memory }), now }).isDue).toBe(true);
  });

  test.each<[string, number | undefined, boolean]>([
    ['for minutes', 10 * 60_000, false],
    ['for a day', DAY, true],
    ['and does not say for how long', undefined, true],
  ])('Percentile: by a window that is known %s', (_, known, isDue) => {
    const profile = profileOf(STEPS, { memory: () => 100 * MIB });
    const question = questionAt(STEPS, profile, { policy: percentilePolicy(90, 1.2) });
    const to = question.now;
    const since = known === undefined ? {} : { memory: to - known };
    const window = { from: to - DAY, to, cpu: undefined, memory: percentilesOf([50 * MIB]), since };
    const advice = recommendMemory({ ...question, window, memory: { ...unset, request: 600 * MIB } });
    expect(advice).toMatchObject(isDue ? { isDue } : { isDue, held: 'LowConfidence', request: 600 * MIB });
  });

  test('Max: of a window that was drawn from the samples the highest is not the highest; the peaks are', () => {
    const profile = profileOf(STEPS, { memory: (step) => (step === 500 ? 900 : 300) * MIB });
    const target = { strategy: 'Max', lookBackMillis: 86_400_000, safetyFactor: 1.1 } as const;
    const policy = { ...defaultPolicy, memory: { ...defaultPolicy.memory, target } };
    const seen = { cpu: undefined, memory: percentilesOf([300 * MIB, 301 * MIB]) };
    const requestBy = (window: RecommendInput['window']) =>
      recommendMemory({ ...questionAt(STEPS, profile, { policy }), window }).request;
    expect(requestBy({ ...seen, isSampled: true })).toBe(Math.trunc(900 * MIB * 1.1));
    expect(requestBy(seen)).toBe(Math.trunc(301 * MIB * 1.1));
    expect(requestBy(undefined)).toBe(Math.trunc(900 * MIB * 1.1));
  });

  test('rightsizing bug 29: a limit stays above the highest use of a window that is longer than peaks are kept', () => {
    const profile = profileOf(STEPS, { memory: () => 100 * MIB });
    const limit = { policy: 'Multiplier', factor: 1.1 } as const;
    const { memory: rules } = percentilePolicy(90, 1.2);
    const policy = { ...percentilePolicy(90, 1.2), memory: { ...rules, limit } };
    const window = {
      cpu: undefined,
      memory: percentilesOf([...Array.from({ length: 99 }, () => 100 * MIB), 900 * MIB]),
    };
    const memory = { ...unset, request: 200 * MIB, limit: 2000 * MIB };
    const limitBy = (known: RecommendInput['window'], decrease: 'WhenSafe' | 'Always') =>
      recommendMemory(
        questionAt(STEPS, profile, { policy: { ...policy, memoryDecrease: decrease }, memory, window: known }),
      ).limit;
    expect(limitBy(window, 'WhenSafe')).toBe(990 * MIB);
    expect(limitBy(window, 'Always')).toBe(900 * MIB);
    expect(limitBy(undefined, 'Always')).toBe(132 * MIB);
  });

  test('keeps a start-up peak, where CPU forgets it', () => {
    const profile = profileOf(STEPS, { memory: () => 300 * MIB });
    const at = (STEPS - 1) * STEP;
    profile.add({ at, memory: 700 * MIB, cpu: 4000, startedAt: at - 1000 });
    expect(recommendMemory(questionAt(STEPS, profile)).request).toBeGreaterThanOrEqual(770 * MIB);
    expect(profile.cpu.samples()).toBe(0);
  });

  test('rightsizing bug 16: after a kill has room enough, from the limit alone if nothing else is known', () => {
    const profile = profileOf(0, {});
    for (let kill = 0; kill < 5; kill++) profile.memory.noteOom(64 * MIB, kill * 60_000);
    const advice = recommendMemory({
      ...questionAt(1, profile),
      now: 6 * 60_000,
      memory: { ...unset, request: 64 * MIB },
    });
    expect(advice.isDue).toBe(true);
    expect(advice.request).toBeGreaterThan(128 * MIB);
    expect(advice.notes[0]?.stage).toBe('out-of-memory');
  });

  test('after a kill is due at once, whatever the cooldown', () => {
    const profile = profileOf(STEPS, { memory: () => 100 * MIB });
    const now = (STEPS - 1) * STEP;
    profile.memory.noteOom(110 * MIB, now);
    const memory = { ...unset, request: 110 * MIB, lastChangeAt: now };
    expect(recommendMemory(questionAt(STEPS, profile, { memory }))).toMatchObject({ isDue: true, request: 315 * MIB });
  });

  test('after a kill without a sample of late raises, and does not lower: what is used by now nobody tells', () => {
    const profile = profileOf(STEPS, { memory: () => 100 * MIB });
    const now = (STEPS - 1) * STEP + 7 * HOUR;
    profile.memory.noteOom(110 * MIB, now - HOUR);
    const adviceFor = (request: number) =>
      recommendMemory(questionAt(STEPS, profile, { now, memory: { ...unset, request } }));
    expect(adviceFor(110 * MIB)).toMatchObject({ isDue: true, request: 315 * MIB });
    expect(adviceFor(4000 * MIB)).toMatchObject({ isDue: false, request: 4000 * MIB });
    profile.add({ at: now, memory: 100 * MIB });
    expect(adviceFor(4000 * MIB)).toMatchObject({ isDue: true, request: 2000 * MIB });
  });

  test('is trusted after a history as long as asked for, however late in its span that began', () => {
    const profile = profileOf(0, {});
    const policy = { ...defaultPolicy, minHistoryMillis: HOUR };
    const memory = { ...unset, request: 500 * MIB };
    const adviceAt = (now: number) => {
      profile.add({ at: now, memory: 100 * MIB });
      return recommendMemory({ ...questionAt(1, profile, { policy, memory }), now });
    };
    const begin = 5.9 * HOUR;
    expect(adviceAt(begin)).toMatchObject({ isDue: false, held: 'LowConfidence', readyAt: begin + HOUR });
    expect(adviceAt(begin + HOUR - 1)).toMatchObject({ isDue: false, request: 500 * MIB });
    expect(adviceAt(begin + HOUR)).toMatchObject({ isDue: true, request: 250 * MIB });
  });

  test('a day after a kill, what was used counts again', () => {
    const profile = profileOf(STEPS, { memory: () => 100 * MIB });
    const now = (STEPS - 1) * STEP;
    profile.memory.noteOom(110 * MIB, now - DAY);
    expect(recommendMemory(questionAt(STEPS, profile)).request).toBe(110 * MIB);
  });

  test('rightsizing bug 19, 21: a kill at the maximum says that it is the maximum', () => {
    const profile = profileOf(STEPS, { memory: () => 900 * MIB });
    const policy = {
      ...defaultPolicy,
      memory: { ...defaultPolicy.memory, bounds: { min: 10 * MIB, max: 1000 * MIB } },
    };
    profile.memory.noteOom(1000 * MIB, (STEPS - 1) * STEP);
    const advice = recommendMemory(questionAt(STEPS, profile, { policy, memory: { ...unset, request: 1000 * MIB } }));
    expect(advice).toMatchObject({ request: 1000 * MIB, isDue: false });
    expect(advice.notes.find(({ stage }) => stage === 'bounds')?.text).toContain('held at the maximum');
  });

  test('rightsizing bug 19: for any kill below the maximum, the new value exceeds what was too little', () => {
    fc.assert(
      fc.property(fc.integer({ min: 10, max: 100_000 }), (mib) => {
        const profile = profileOf(STEPS, { memory: () => mib * MIB });
        profile.memory.noteOom(mib * MIB, (STEPS - 1) * STEP);
        const advice = recommendMemory(questionAt(STEPS, profile, { memory: { ...unset, request: mib * MIB } }));
        expect(advice.isDue).toBe(true);
        expect(advice.request).toBeGreaterThan(mib * 1.2 * MIB);
      }),
      { numRuns: 100 },
    );
  });

  test('goes down by half at a time', () => {
    const profile = profileOf(STEPS, { memory: () => 100 * MIB });
    const advice = recommendMemory(questionAt(STEPS, profile, { memory: { ...unset, request: 1000 * MIB } }));
    expect(advice).toMatchObject({ request: 500 * MIB, isDue: true });
    expect(advice.notes.find(({ stage }) => stage === 'step')?.text).toBe('at most 50 % down at a time');
  });

  // Feature: k8s-workload-rightsizing, Property 5: for any decrease, nothing is advised that recent usage would break.
  test('Property 5: for any recent use, the advised request is above its peak', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 4000 }), { minLength: 1, maxLength: 30 }),
        fc.integer({ min: 1, max: 9000 }),
        (use, request) => {
          const profile = profileOf(STEPS, { memory: (step) => (use[step % use.length] ?? 1) * MIB });
          const advice = recommendMemory(questionAt(STEPS, profile, { memory: { ...unset, request: request * MIB } }));
          expect(advice.request).toBeGreaterThanOrEqual(Math.max(...use) * MIB);
        },
      ),
      { numRuns: 100 },
    );
  });

  test('a limit with headroom goes down in steps with its request', () => {
    const profile = profileOf(STEPS, { memory: () => 400 * MIB });
    const policy = {
      ...defaultPolicy,
      memory: { ...defaultPolicy.memory, limit: { policy: 'Headroom', headroom: 64 * MIB } as const },
    };
    const memory = { request: 4000 * MIB, limit: 8000 * MIB, lastChangeAt: undefined };
    expect(recommendMemory(questionAt(STEPS, profile, { policy, memory }))).toMatchObject({
      request: 2000 * MIB,
      limit: 2064 * MIB,
    });
  });

  test('old peaks are stale, and no history is none', () => {
    const profile = profileOf(STEPS, { memory: () => 100 * MIB });
    const now = (STEPS - 1) * STEP + 7 * HOUR;
    expect(recommendMemory(questionAt(STEPS, profile, { now })).held).toBe('Stale');
    expect(recommendMemory(questionAt(STEPS, profile, { now: now + 10 * DAY })).held).toBe('NoData');
  });

  test('optipod 2: the shipped strategy takes the percentile of the peaks, cut, to the byte', () => {
    const profile = profileOf(STEPS, { memory: () => 73_847_603 });
    const advice = recommendMemory(questionAt(STEPS, profile, { policy: percentilePolicy(90, 1.2) }));
    expect(advice.request).toBe(88_617_123);
  });

  test('optipod 3: of no peaks there is none', () => {
    expect(recommendMemory(questionAt(1, profileOf(0, {}), { policy: percentilePolicy(90, 1.2) })).held).toBe('NoData');
  });
});
