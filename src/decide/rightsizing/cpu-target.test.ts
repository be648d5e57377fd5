import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { percentilesOf } from '../../model/usage-window.ts';
import { cpuTarget } from './cpu-target.ts';
import { defaultPolicy } from './policy.ts';
import { profileOf } from './testing/profiles.ts';

const steady = profileOf(300, { cpu: () => 200 });
const percentile = { strategy: 'Percentile', percentile: 90, safetyFactor: 1.2 } as const;

describe('targets', () => {
  test('without usage there is none', () => {
    expect(cpuTarget(profileOf(0, {}), percentile, undefined)).toBeUndefined();
  });

  test('optipod pinned: P90 of 100, 200, 300 times 1.2 is cut to 336', () => {
    expect(cpuTarget(steady, percentile, percentilesOf([100, 200, 300]))?.draft.value).toBe(336);
  });

  test('without a window Percentile reads the histogram', () => {
    const value = cpuTarget(steady, percentile, undefined)?.draft.value ?? 0;
    expect(value).toBeGreaterThanOrEqual(240);
    expect(value).toBeLessThan(240 * 1.06);
  });

  test('Histogram adds its margin, Max its factor', () => {
    const histogram = { strategy: 'Histogram', percentile: 90, margin: 0.15, halfLifeMillis: 1 } as const;
    const value = cpuTarget(steady, histogram, undefined)?.draft.value ?? 0;
    expect(value).toBeGreaterThanOrEqual(230);
    expect(value).toBeLessThan(230 * 1.06);
    const max = { strategy: 'Max', lookBackMillis: 1, safetyFactor: 1.1 } as const;
    expect(cpuTarget(steady, max, percentilesOf([100, 500]))?.draft.value).toBe(550);
    const spiky = profileOf(300, { cpu: (step) => (step === 200 ? 900 : 100) });
    expect(cpuTarget(spiky, max, undefined)?.draft.value).toBeGreaterThanOrEqual(900);
  });

  test('only CostAware weighs a change', () => {
    expect(cpuTarget(steady, percentile, undefined)?.gainOf).toBeUndefined();
    const gain = cpuTarget(steady, defaultPolicy.cpu.target, undefined)?.gainOf?.(210, 800);
    expect(gain?.actual).toBeGreaterThan(gain?.needed ?? 9);
  });

  test('CostAware: too little is dear for the smallest, too', () => {
    const profile = profileOf(300, { cpu: (step) => (step < 270 ? 5 : 40) });
    const gain = cpuTarget(profile, defaultPolicy.cpu.target, undefined)?.gainOf?.(40, 6);
    expect(gain?.actual).toBeGreaterThan(gain?.needed ?? 9);
  });

  describe('CostAware: a raise goes by the last day, a decrease by six hours more', () => {
    const SPAN_STEPS = 72;
    const target = defaultPolicy.cpu.target;
    /** Busy in the first six hours, idle since. */
    const sinceBusy = (spans: number) =>
      profileOf(spans * SPAN_STEPS, { cpu: (step) => (step < SPAN_STEPS ? 900 : 100) });
    const valueAt = (spans: number, current?: number) =>
      cpuTarget(sinceBusy(spans), target, undefined, current)?.draft.value ?? 0;

    test('a request that was right more than a day ago stays for six hours, then it falls', () => {
      expect(valueAt(5, 950)).toBeGreaterThan(900);
      expect(valueAt(6, 950)).toBeLessThan(110);
    });

    test('and says that it is held', () => {
      expect(cpuTarget(sinceBusy(5), target, undefined, 910)?.draft).toMatchObject({
        value: 910,
        notes: [{ text: expect.stringMatching(/; not lowered$/) }],
      });
    });

    test('nothing is raised to it any more', () => {
      expect(valueAt(5, 50)).toBeLessThan(110);
      expect(valueAt(5, 400)).toBe(400);
    });

    test('whoever has no request gets the larger of both', () => {
      expect(valueAt(5)).toBeGreaterThan(900);
    });

    test('for any usage and request, a raise goes no further than the last day, and the gain is none below the least cost', () => {
      const usages = fc.array(fc.integer({ min: 1, max: 4000 }), { minLength: 1, maxLength: 8 });
      fc.assert(
        fc.property(usages, fc.integer({ min: 1, max: 4000 }), (spans, current) => {
          const profile = profileOf(spans.length * SPAN_STEPS, {
            cpu: (step) => spans[Math.floor(step / SPAN_STEPS)] ?? 0,
          });
          const { draft, gainOf } = cpuTarget(profile, target, undefined, current) ?? expect.fail('has usage');
          const [lately, longer] = [Math.max(...spans.slice(-4)), Math.max(...spans.slice(-5))];
          // Buckets are up to 5 % wide, the first one wider.
          const upperEnd = (usage: number): number => usage * 1.06 + 2;
          expect(draft.value).toBeLessThanOrEqual(upperEnd(draft.value > current ? lately : longer));
          expect(gainOf?.(draft.value, current).actual).toBeGreaterThan(-0.05);
        }),
        { numRuns: 100 },
      );
    });
  });

  // Feature: k8s-workload-rightsizing, Property 14: the recommendation is the chosen percentile times the safety factor.
  test('Property 14: for any samples, percentile and factor, the value is percentile times factor, cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(10_000), { minLength: 1, maxLength: 60 }),
        fc.constantFrom(50, 90, 95, 99),
        fc.double({ min: 1, max: 3, noNaN: true }),
        (samples, percent, safetyFactor) => {
          const window = percentilesOf([...samples]);
          const at = { 50: window?.p50, 90: window?.p90, 95: window?.p95, 99: window?.p99 }[percent] ?? 0;
          const target = { strategy: 'Percentile', percentile: percent, safetyFactor } as const;
          expect(cpuTarget(steady, target, window)?.draft.value).toBe(Math.trunc(at * safetyFactor));
        },
      ),
      { numRuns: 200 },
    );
  });
});
