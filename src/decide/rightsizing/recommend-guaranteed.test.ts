import { describe, expect, test } from 'vitest';
import { MIB } from '../../model/testing/sizing-records.ts';
import { profileOf } from './testing/profiles.ts';
import { ask, container, policy, STEPS } from './testing/workload-question.ts';

describe('Guaranteed pods', () => {
  const both = { cpuRequest: 500, cpuLimit: 500, memoryRequest: 512 * MIB, memoryLimit: 512 * MIB };

  test('stay Guaranteed: with limits kept nothing changes', () => {
    const [app] = ask({ containers: [container('app', both)] });
    expect([app?.cpu.held, app?.memory.held]).toEqual(['GuaranteedKept', 'GuaranteedKept']);
  });

  test('move requests and limits together', () => {
    const [app] = ask({ containers: [container('app', both)], policy: { mayChangeLimits: true } });
    expect(app?.cpu).toMatchObject({ isDue: true, request: 240, limit: 240 });
    expect(app?.memory.request).toBe(app?.memory.limit);
    expect(app?.memory.limit).toBeGreaterThanOrEqual(110 * MIB);
  });

  test.each([
    [300, { isDue: true, request: 330 * MIB, limit: 330 * MIB }],
    [490, { isDue: false, held: 'MemoryDecreaseUnsafe' }],
  ])('used %i MiB a day ago, memory goes no lower than that allows, and never up instead', (peak, expected) => {
    const peaky = profileOf(STEPS, { cpu: () => 200, memory: (step) => (step < 10 ? peak : 100) * MIB });
    const target = { strategy: 'Percentile', percentile: 50, safetyFactor: 1 } as const;
    const memory = { ...policy.memory, target };
    const containers = [container('app', both)];
    const [app] = ask({ containers, profiles: { app: peaky }, policy: { memory, mayChangeLimits: true } });
    expect(app?.memory).toMatchObject(expected);
  });
});
