import { describe, expect, test } from 'vitest';
import { validPolicy } from '../../model/testing/policies.ts';
import { defaultPolicy, defaultProfileOptions } from './policy.ts';
import { profileOptionsOf, rulesOf } from './policy-rules.ts';

const MIB = 1024 * 1024;
const HOUR = 3_600_000;
const rules = (spec: object = {}) => rulesOf(validPolicy({ spec }).spec);
const metrics = (more: object) => ({ metricsConfig: { provider: 'prometheus', ...more } });

describe('a policy that says the least', () => {
  test('recommends as OptiPod does: P90 times 1.2 within the bounds, limits untouched', () => {
    const { cpu, memory, mayChangeLimits } = rules();
    expect(cpu.target).toEqual({ strategy: 'Percentile', percentile: 90, safetyFactor: 1.2 });
    expect(memory.target).toEqual({ strategy: 'Percentile', percentile: 90, safetyFactor: 1.2 });
    expect(cpu.bounds).toEqual({ min: 100, max: 4000 });
    expect(memory.bounds).toEqual({ min: 128 * MIB, max: 8192 * MIB });
    expect([cpu.limit, memory.limit, mayChangeLimits]).toEqual([{ policy: 'Keep' }, { policy: 'Keep' }, false]);
  });

  test('changes by 10 % or more, once an hour, by half at most downwards; memory that is wanted does not wait', () => {
    const { cpu, memory } = rules();
    expect(cpu.change).toMatchObject({ minChange: 0.1, cooldownUpMillis: HOUR, cooldownDownMillis: HOUR });
    expect(cpu.change).toMatchObject({ maxStepDown: 0.5, maxStepUp: undefined, minAmount: 5 });
    expect(memory.change).toMatchObject({ minChange: 0.1, cooldownUpMillis: 0, cooldownDownMillis: HOUR });
  });

  test('trusts a day of history', () => {
    expect(rules()).toMatchObject({
      minHistoryMillis: 24 * HOUR,
      minSamples: 10,
      memoryDecrease: 'WhenSafe',
      hpa: 'Skip',
    });
  });
});

describe('strategies', () => {
  test('percentile and factor may differ by resource', () => {
    const { cpu, memory } = rules(
      metrics({ percentile: 'P50', percentiles: { memory: 'P99' }, safetyFactor: 1.5, safetyFactors: { cpu: 1 } }),
    );
    expect(cpu.target).toEqual({ strategy: 'Percentile', percentile: 50, safetyFactor: 1 });
    expect(memory.target).toEqual({ strategy: 'Percentile', percentile: 99, safetyFactor: 1.5 });
  });

  test('Histogram: the factor is a margin, the history fades', () => {
    const { cpu, memory } = rules(metrics({ strategy: 'Histogram', safetyFactor: 1.25, halfLife: '12h' }));
    const expected = { strategy: 'Histogram', percentile: 90, margin: 0.25, halfLifeMillis: 12 * HOUR };
    expect([cpu.target, memory.target]).toEqual([expected, expected]);
  });

  test('Max looks back over the window', () => {
    const { cpu } = rules(metrics({ strategy: 'Max', rollingWindow: '7d', safetyFactor: 1.1 }));
    expect(cpu.target).toEqual({ strategy: 'Max', lookBackMillis: 168 * HOUR, safetyFactor: 1.1 });
  });

  test('CostAware: CPU by price, memory by its peaks, decreases hours apart', () => {
    const { cpu, memory } = rules(metrics({ strategy: 'CostAware' }));
    expect(cpu.target).toEqual(defaultPolicy.cpu.target);
    expect(memory.target).toEqual(defaultPolicy.memory.target);
    expect([cpu.change.cooldownUpMillis, cpu.change.cooldownDownMillis]).toEqual([HOUR, 4 * HOUR]);
  });

  test('CostAware: memory goes up as soon as half of its room is used, and down once a day', () => {
    const { memory } = rules(metrics({ strategy: 'CostAware' }));
    expect(memory.change).toMatchObject({ minChange: 0.05, cooldownUpMillis: 0, cooldownDownMillis: 24 * HOUR });
    const finer = rules({
      ...metrics({ strategy: 'CostAware' }),
      updateStrategy: { minChange: '2%', cooldown: '48h' },
    });
    expect(finer.memory.change).toMatchObject({ minChange: 0.02, cooldownDownMillis: 48 * HOUR });
  });

  test.each([
    [{ workload: 'Batch' }, 4],
    [{ workload: 'Serving' }, 28],
    [{ workload: 'Batch', exceededHours: 7 }, 7],
  ])('CostAware %j: an hour above the request costs %i', (costAware, exceeded) => {
    const { target } = rules(metrics({ strategy: 'CostAware', costAware: { ...costAware, minGain: '8%' } })).cpu;
    expect(target).toMatchObject({ exceeded, minGainUp: 0.08, minGainDown: 0.33 });
  });
});

describe('limits', () => {
  const limits = (limitConfig: object | undefined, updateRequestsOnly = false) => {
    const { cpu, memory, mayChangeLimits } = rules({
      updateStrategy: { updateRequestsOnly, ...(limitConfig !== undefined && { limitConfig }) },
    });
    expect(mayChangeLimits).toBe(!updateRequestsOnly);
    return [cpu.limit, memory.limit];
  };
  const keep = { policy: 'Keep' };

  test.each<[string, object | undefined, object, object]>([
    ['nothing said: the multipliers OptiPod ships', undefined, { factor: 1 }, { factor: 1.1 }],
    ['an empty limitConfig too', {}, { factor: 1 }, { factor: 1.1 }],
    ['own multipliers', { cpuLimitMultiplier: 1.5, memoryLimitMultiplier: 2 }, { factor: 1.5 }, { factor: 2 }],
    ['Keep', { policy: 'Keep' }, keep, keep],
    ['Ratio', { policy: 'Ratio' }, { policy: 'Ratio' }, { policy: 'Ratio' }],
    [
      'Headroom, of the resources it names',
      { policy: 'Headroom', headroom: { memory: '256Mi' } },
      keep,
      { policy: 'Headroom', headroom: 256 * MIB },
    ],
  ])('%s', (_, limitConfig, cpu, memory) => {
    expect(limits(limitConfig)).toMatchObject([cpu, memory]);
  });

  test('stay where only requests may be changed, whatever limitConfig says', () => {
    expect(limits({ policy: 'Ratio' }, true)).toEqual([keep, keep]);
  });
});

describe('how usage is remembered', () => {
  test('by the defaults, but for the time after a start', () => {
    const { spec } = validPolicy({ spec: metrics({ startupExclusion: '0s' }) });
    expect(profileOptionsOf(spec)).toEqual({ ...defaultProfileOptions, startupExclusionMillis: 0 });
  });

  test('Histogram says how fast it fades', () => {
    const { spec } = validPolicy({ spec: metrics({ strategy: 'Histogram', halfLife: '2d' }) });
    expect(profileOptionsOf(spec).usualHalfLifeMillis).toBe(48 * HOUR);
  });
});
