import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exactPercentile } from '../../lib/exact-percentile.ts';
import { defaultPolicy } from './policy.ts';
import { recommend } from './recommend.ts';
import { DAY, HOUR, MIB, percentilePolicy, profileOf, questionAt, unset } from './testing/profiles.ts';

const STEPS = 400;
const usages = fc.record({
  cpu: fc.array(fc.nat(8000), { minLength: 1, maxLength: 40 }),
  memory: fc.array(fc.integer({ min: 1, max: 1e10 }), { minLength: 1, maxLength: 40 }),
});
const cycle = (values: readonly number[]) => (step: number) => values[step % values.length] ?? 0;

describe('advice for a container', () => {
  test('has both resources, each with the steps that led to it', () => {
    const profile = profileOf(STEPS, { cpu: () => 200, memory: () => 500 * MIB });
    const { cpu, memory } = recommend(questionAt(STEPS, profile));
    expect(cpu).toMatchObject({ isDue: true, held: undefined });
    expect(cpu.request).toBeGreaterThanOrEqual(200);
    expect(cpu.request).toBeLessThan(212);
    expect(memory.request).toBe(550 * MIB);
    expect(cpu.notes.map(({ stage }) => stage)).toEqual(['target', 'rounding', 'change']);
    expect(memory.notes.map(({ stage }) => stage)).toEqual(['target', 'change']);
  });

  test('rightsizing bug 32: without CPU usage still has memory, and the other way round', () => {
    const onlyMemory = recommend(questionAt(STEPS, profileOf(STEPS, { memory: () => 500 * MIB })));
    expect(onlyMemory.cpu).toMatchObject({ request: undefined, isDue: false, held: 'NoData' });
    expect(onlyMemory.memory.request).toBe(550 * MIB);
    const onlyCpu = recommend(questionAt(STEPS, profileOf(STEPS, { cpu: () => 200 })));
    expect(onlyCpu.memory).toMatchObject({ request: undefined, isDue: false, held: 'NoData' });
    expect(onlyCpu.cpu.request).toBeDefined();
  });

  // Feature: k8s-workload-rightsizing, Property 7: for any workload without metrics, nothing is changed and the reason is told.
  test('Property 7: for any current values, no metrics means no advice and a reason', () => {
    const amount = fc.option(fc.integer({ min: 1, max: 1e12 }), { nil: undefined });
    fc.assert(
      fc.property(amount, amount, (request, limit) => {
        const current = { request, limit, lastChangeAt: undefined };
        const advice = recommend(questionAt(STEPS, profileOf(0, {}), { cpu: current, memory: current }));
        for (const one of [advice.cpu, advice.memory]) {
          expect(one).toMatchObject({ request: undefined, limit: undefined, isDue: false, held: 'NoData' });
          expect(one.notes[0]?.text).toMatch(/no (?:CPU|memory) usage is known/);
        }
      }),
      { numRuns: 100 },
    );
  });

  // Feature: k8s-workload-rightsizing, Property 4: for any recommendation, the result is within the bounds.
  test('Property 4: for any usage, bounds and current values, the request is within the bounds', () => {
    const bounds = fc
      .tuple(fc.integer({ min: 1, max: 8000 }), fc.nat(8000))
      .map(([min, more]) => ({ min, max: min + more }));
    fc.assert(
      fc.property(
        usages,
        bounds,
        bounds,
        fc.option(fc.integer({ min: 1, max: 9000 }), { nil: undefined }),
        (usage, forCpu, forMemory, request) => {
          const policy = {
            ...defaultPolicy,
            cpu: { ...defaultPolicy.cpu, bounds: forCpu },
            memory: { ...defaultPolicy.memory, bounds: { min: forMemory.min * MIB, max: forMemory.max * MIB } },
          };
          const profile = profileOf(60, { cpu: cycle(usage.cpu), memory: cycle(usage.memory) });
          const { cpu, memory } = recommend(
            questionAt(60, profile, {
              policy,
              cpu: { ...unset, request },
              memory: { ...unset, request: request === undefined ? undefined : request * MIB },
            }),
          );
          expect(cpu.request).toBeGreaterThanOrEqual(forCpu.min);
          expect(cpu.request).toBeLessThanOrEqual(forCpu.max);
          expect(memory.request).toBeGreaterThanOrEqual(forMemory.min * MIB);
          expect(memory.request).toBeLessThanOrEqual(forMemory.max * MIB);
        },
      ),
      { numRuns: 150 },
    );
  });

  // Feature: k8s-workload-rightsizing, Property 2: for any workload with sufficient data, its requests are to be updated.
  test('Property 2: for any steady use far from the request, a day of history makes a change due', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 10, max: 4000 }),
        fc.integer({ min: 50, max: 4000 }),
        fc.boolean(),
        (cpu, mib, isUp) => {
          const profile = profileOf(STEPS, { cpu: () => cpu, memory: () => mib * MIB });
          const factor = isUp ? 0.5 : 2;
          const advice = recommend(
            questionAt(STEPS, profile, {
              cpu: { ...unset, request: Math.max(1, Math.round(cpu * factor)) },
              memory: { ...unset, request: Math.round(mib * factor * MIB) },
            }),
          );
          expect([advice.cpu.isDue, advice.memory.isDue]).toEqual([true, true]);
        },
      ),
      { numRuns: 100 },
    );
  });

  // Feature: k8s-workload-rightsizing, Property 10: for any recommendation, there is a CPU and a memory value for each container.
  test('Property 10: for any usage, both values are whole numbers above 0, and every note has its stage, value and text', () => {
    fc.assert(
      fc.property(usages, (usage) => {
        const profile = profileOf(60, { cpu: cycle(usage.cpu), memory: cycle(usage.memory) });
        const { cpu, memory } = recommend(questionAt(60, profile));
        for (const { request, notes } of [cpu, memory]) {
          expect(Number.isInteger(request)).toBe(true);
          expect(request).toBeGreaterThan(0);
          expect(notes.at(-1)?.value).toBe(request);
          for (const note of notes) expect(note.text).not.toBe('');
        }
      }),
      { numRuns: 100 },
    );
  });

  // Feature: k8s-workload-rightsizing, Property 14: for any recommendation, it is percentile times safety factor.
  test('Property 14: for any usage, percentile and factor, the Percentile strategy gives trunc(percentile * factor)', () => {
    fc.assert(
      fc.property(
        usages,
        fc.constantFrom(50, 90, 95, 99),
        fc.double({ min: 1, max: 3, noNaN: true }),
        (usage, percentile, factor) => {
          const profile = profileOf(STEPS, { cpu: cycle(usage.cpu), memory: cycle(usage.memory) });
          const policy = percentilePolicy(percentile, factor);
          const { cpu, memory } = recommend(questionAt(STEPS, profile, { policy }));
          const wanted = Math.trunc(profile.cpu.usual.percentile(percentile / 100) * factor);
          expect(cpu.notes[0]).toMatchObject({ stage: 'target', value: wanted });
          expect(cpu.request).toBe(Math.max(1, wanted));
          expect(memory.notes[0]).toMatchObject({
            stage: 'target',
            text: expect.stringContaining(`times ${factor.toFixed(2)}`),
          });
          const peaks = profile.memory.peaks().map(({ bytes }) => bytes);
          const ofPeaks = exactPercentile(
            peaks.sort((a, b) => a - b),
            percentile,
          );
          expect(memory.notes[0]?.value).toBe(Math.trunc(ofPeaks * factor));
          expect(memory.request).toBe(Math.max(policy.memory.bounds.min, memory.notes[0]?.value ?? 0));
        },
      ),
      { numRuns: 100 },
    );
  });

  // Feature: k8s-workload-rightsizing, Property 12: for any metrics, they are aggregated over the window.
  test('Property 12: for any level, what lies many half-lives back no longer decides', () => {
    fc.assert(
      fc.property(fc.integer({ min: 20, max: 2000 }), fc.integer({ min: 2, max: 20 }), (level, factor) => {
        const profile = profileOf(5 * 288, {
          cpu: (step) => (step < 288 ? level * factor : level),
          memory: (step) => (step < 288 ? level * factor : level) * MIB,
        });
        const { cpu, memory } = recommend(questionAt(5 * 288, profile));
        expect(cpu.request).toBeLessThan(level * 1.1 + 1);
        expect(memory.request).toBeLessThan(level * 1.12 * MIB + MIB);
      }),
      { numRuns: 100 },
    );
  });

  test('for any usage, applying the advice makes the next advice a no-op', () => {
    fc.assert(
      fc.property(usages, (usage) => {
        const profile = profileOf(STEPS, { cpu: cycle(usage.cpu), memory: cycle(usage.memory) });
        const first = recommend(questionAt(STEPS, profile));
        const again = recommend(
          questionAt(STEPS, profile, {
            cpu: { ...unset, request: first.cpu.request },
            memory: { ...unset, request: first.memory.request },
          }),
        );
        expect([again.cpu.isDue, again.memory.isDue]).toEqual([false, false]);
        expect([again.cpu.request, again.memory.request]).toEqual([first.cpu.request, first.memory.request]);
      }),
      { numRuns: 100 },
    );
  });

  test('rightsizing bug 4: one resource that is stale is frozen, the other goes on', () => {
    const profile = profileOf(STEPS, { cpu: () => 200, memory: () => 500 * MIB });
    const later = (STEPS - 1) * 300_000 + 7 * HOUR;
    profile.add({ at: later, cpu: 200 });
    const { cpu, memory } = recommend(questionAt(STEPS, profile, { now: later }));
    expect(cpu.held).toBeUndefined();
    expect(memory).toMatchObject({ request: undefined, held: 'Stale' });
    expect(recommend(questionAt(STEPS, profile, { now: later + DAY })).cpu.held).toBe('Stale');
  });

  test('samples that are hours ahead of the clock are none of now, whichever clock is wrong', () => {
    const profile = profileOf(STEPS, { cpu: () => 200, memory: () => 500 * MIB });
    const held = (hours: number): unknown[] => {
      const { cpu, memory } = recommend(questionAt(STEPS, profile, { now: (STEPS - 1) * 300_000 - hours * HOUR }));
      return [cpu.held, memory.held];
    };
    expect(held(6)).toEqual([undefined, undefined]);
    expect(held(7)).toEqual(['Stale', 'Stale']);
  });
});
