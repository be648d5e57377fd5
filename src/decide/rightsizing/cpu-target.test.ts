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
