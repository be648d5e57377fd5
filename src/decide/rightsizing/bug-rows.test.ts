/** Public bug reports of other tools, by their row in the list of peers, as far as they concern what is recommended. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatQuantity, fromBytes } from '../../lib/quantity.ts';
import { UsageProfile } from '../../model/usage-profile.ts';
import { defaultPolicy, defaultProfileOptions, type LimitRule } from './policy.ts';
import { type RecommendInput, recommend } from './recommend.ts';
import { HOUR, MIB, percentilePolicy, profileOf, questionAt, unset } from './testing/profiles.ts';

const STEP = 300_000;
const WEEK_STEPS = 7 * 288;
const busy = {
  cpu: (step: number) => 300 + 200 * Math.sin((2 * Math.PI * step) / 288),
  memory: (step: number) => (500 + (step % 50)) * MIB,
};

describe('bug rows', () => {
  test('rightsizing bug 1: a target that cannot be found for a while keeps its profile', () => {
    const profile = profileOf(WEEK_STEPS, busy);
    const before = recommend(questionAt(WEEK_STEPS, profile)).memory.request;
    // Nothing is told for 5 hours, then one small sample.
    const at = (WEEK_STEPS - 1) * STEP + 5 * HOUR;
    profile.add({ at, cpu: 10, memory: 50 * MIB });
    const after = recommend(questionAt(WEEK_STEPS, profile, { now: at }));
    expect(after.memory.request).toBe(before);
    expect(after.cpu.request).toBeGreaterThan(400);
  });

  test('rightsizing bug 2: CPU known, memory not: no memory value at all, whatever the minimum', () => {
    const policy = { ...defaultPolicy, memory: { ...defaultPolicy.memory, bounds: { min: 64 * MIB, max: 512 * MIB } } };
    const advice = recommend(questionAt(400, profileOf(400, { cpu: busy.cpu }), { policy }));
    expect(advice.memory.request).toBeUndefined();
    expect(advice.cpu.request).toBeDefined();
  });

  test('rightsizing bug 3: a restart every 23 hours for eight days equals no restart', () => {
    const steady = new UsageProfile(defaultProfileOptions);
    let restarted = new UsageProfile(defaultProfileOptions);
    for (let step = 0; step < 8 * 288; step++) {
      const sample = { at: step * STEP, cpu: busy.cpu(step), memory: busy.memory(step) };
      steady.add(sample);
      if (step % 276 === 275) restarted = new UsageProfile(defaultProfileOptions, restarted.save());
      restarted.add(sample);
    }
    expect(recommend(questionAt(8 * 288, restarted))).toEqual(recommend(questionAt(8 * 288, steady)));
  });

  test('rightsizing bug 5: another policy, or another strategy, finds the same history', () => {
    const profile = profileOf(WEEK_STEPS, busy);
    const before = profile.save();
    const shipped = recommend(questionAt(WEEK_STEPS, profile, { policy: percentilePolicy(99, 1.5) }));
    expect(shipped.cpu.request).toBeGreaterThan(600);
    expect(profile.save()).toBe(before);
    expect(recommend(questionAt(WEEK_STEPS, profile)).cpu.request).toBeLessThan(shipped.cpu.request ?? 0);
  });

  test('rightsizing bug 6: the advice written as text and read again is no change', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000 }), (mib) => {
        const profile = profileOf(300, { memory: () => mib * MIB * 1.0000001 });
        const request = recommend(questionAt(300, profile)).memory.request ?? 0;
        expect(formatQuantity(fromBytes(request))).toMatch(/^\d+(?:Mi|Gi|Ti)$/);
        const again = recommend(questionAt(300, profile, { memory: { ...unset, request } }));
        expect(again.memory).toMatchObject({ isDue: false, request });
      }),
      { numRuns: 100 },
    );
  });

  test('rightsizing bug 8: bounds that leave one value give that value, and no change from it', () => {
    const only = { min: 250, max: 250 };
    const policy = { ...defaultPolicy, cpu: { ...defaultPolicy.cpu, bounds: only } };
    const profile = profileOf(WEEK_STEPS, busy);
    const advice = recommend(questionAt(WEEK_STEPS, profile, { policy, cpu: { ...unset, request: 250 } }));
    expect(advice.cpu).toMatchObject({ request: 250, isDue: false });
  });

  test('rightsizing bug 17: one of ten replicas needs six times as much: the value is enough for it', () => {
    const profile = new UsageProfile(defaultProfileOptions);
    for (let step = 0; step < 600; step++) {
      for (let replica = 0; replica < 10; replica++) {
        profile.add({ at: step * STEP, memory: (replica === 7 ? 600 : 100) * MIB });
      }
    }
    expect(recommend(questionAt(600, profile)).memory.request).toBe(660 * MIB);
  });

  test('rightsizing bug 20: shrunk after a quiet time and killed for it, the value is back at once and stays for a day', () => {
    const profile = profileOf(WEEK_STEPS, { memory: (step) => (step < 288 ? 900 : 100) * MIB });
    const killedAt = (WEEK_STEPS - 1) * STEP;
    profile.memory.noteOom(110 * MIB, killedAt);
    const ask = (now: number, request: number): RecommendInput =>
      questionAt(WEEK_STEPS, profile, {
        now,
        memory: { request: request * MIB, limit: undefined, lastChangeAt: killedAt },
      });
    const first = recommend(ask(killedAt, 110)).memory;
    expect(first.isDue).toBe(true);
    expect(first.request).toBeGreaterThan(900 * MIB);
    profile.add({ at: killedAt + 23 * HOUR, memory: 100 * MIB });
    expect(recommend(ask(killedAt + 23 * HOUR, (first.request ?? 0) / MIB)).memory.isDue).toBe(false);
  });

  test('rightsizing bug 21: a maximum below the need: kills without end teach no more than the first, and the maximum is named', () => {
    const max = 1000 * MIB;
    const policy = { ...defaultPolicy, memory: { ...defaultPolicy.memory, bounds: { min: 10 * MIB, max } } };
    const profile = new UsageProfile(defaultProfileOptions);
    // Killed at its limit every ten minutes for three days, and once a day for a month after.
    const kills = [...Array.from({ length: 432 }, (_, index) => index * 600_000)];
    for (let day = 4; day < 34; day++) kills.push(day * 24 * HOUR + 60_000 * day);
    for (const at of kills) {
      profile.add({ at, memory: max });
      profile.memory.noteOom(max, at);
      expect(profile.memory.oom()?.bytes).toBe(1200 * MIB);
    }
    const now = kills.at(-1) ?? 0;
    const memory = { ...unset, request: max, limit: max };
    const advice = recommend(questionAt(1, profile, { policy, memory, now })).memory;
    expect(advice).toMatchObject({ request: max, isDue: false });
    expect(advice.notes.find(({ stage }) => stage === 'bounds')?.text).toContain('held at the maximum');
  });

  test.each<[string, LimitRule, number | undefined]>([
    ['in the same ratio it is ten times the request', { policy: 'Ratio' }, 7680 * MIB],
    ['with headroom it is the request and no more than that', { policy: 'Headroom', headroom: 256 * MIB }, 1024 * MIB],
    ['kept it does not move', { policy: 'Keep' }, undefined],
  ])('rightsizing bug 22: a limit ten times its request: %s', (_, limit, expected) => {
    const policy = { ...defaultPolicy, memory: { ...defaultPolicy.memory, limit } };
    const profile = profileOf(WEEK_STEPS, { memory: () => 698 * MIB });
    const memory = { request: 300 * MIB, limit: 3000 * MIB, lastChangeAt: undefined };
    const advice = recommend(questionAt(WEEK_STEPS, profile, { policy, memory })).memory;
    expect(advice).toMatchObject({ request: 768 * MIB, limit: expected, isDue: true });
  });

  test('rightsizing bug 23: CPU limits are left alone by default', () => {
    const profile = profileOf(WEEK_STEPS, busy);
    const cpu = { request: 2000, limit: 4000, lastChangeAt: undefined };
    expect(recommend(questionAt(WEEK_STEPS, profile, { cpu })).cpu).toMatchObject({ isDue: true, limit: undefined });
  });

  test('rightsizing bug 24: after five minutes nothing absurd is shown: at most half above what was used', () => {
    const advice = recommend(questionAt(2, profileOf(2, { cpu: () => 100, memory: () => 100 * MIB })));
    expect(advice.cpu.request).toBeLessThanOrEqual(160);
    expect(advice.memory.request).toBeLessThanOrEqual(166 * MIB);
  });

  test('rightsizing bug 25: small containers get small requests, and memory never less than 10 MiB', () => {
    const small = recommend(questionAt(600, profileOf(600, { cpu: () => 3, memory: () => 30 * MIB })));
    expect(small.cpu.request).toBeLessThan(10);
    expect(small.memory.request).toBe(33 * MIB);
    const tiny = recommend(questionAt(600, profileOf(600, { memory: () => 3 * MIB })));
    expect(tiny.memory.request).toBe(10 * MIB);
    expect(tiny.memory.notes.some(({ stage }) => stage === 'bounds')).toBe(true);
  });

  test('rightsizing bug 35: the notes of a decision hold the numbers it was made of', () => {
    const profile = profileOf(WEEK_STEPS, busy);
    const now = (WEEK_STEPS - 1) * STEP;
    const cpu = { request: 2000, limit: undefined, lastChangeAt: now - 2 * 3_600_000 };
    const { notes } = recommend(questionAt(WEEK_STEPS, profile, { cpu })).cpu;
    expect(notes.map(({ stage, text }) => `${stage}: ${text}`)).toEqual([
      expect.stringMatching(
        /^target: least expected cost at \d+m: usage \d+m on average, above it [\d.]+ % of the time$/,
      ),
      expect.stringMatching(/^rounding: up to a whole multiple of 1$/),
      expect.stringMatching(/^change: no change down until \d{4}-\d\d-\d\dT/),
    ]);
  });
});
