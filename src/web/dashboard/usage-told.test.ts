import { describe, expect, test } from 'vitest';
import { defaultPolicy, defaultProfileOptions } from '../../decide/rightsizing/policy.ts';
import { UsageProfile } from '../../model/usage-profile.ts';
import { cpuUsageTold, memoryUsageTold, type UsageQuestion } from './usage-told.ts';

const MINUTE = 60_000;
const MIB = 1024 ** 2;

function question(fields: Partial<UsageQuestion> = {}): UsageQuestion {
  const profile = new UsageProfile(defaultProfileOptions);
  for (let minute = 0; minute < 100; minute++)
    profile.add({ at: minute * MINUTE, cpu: minute < 90 ? 100 : 180, memory: 200 * MIB });
  return {
    profile,
    rules: defaultPolicy,
    current: { cpuRequest: 300, memoryRequest: 256 * MIB, memoryLimit: 1024 * MIB },
    advised: { cpu: '150m', memory: '220Mi' },
    now: 100 * MINUTE,
    ...fields,
  };
}

describe('the usage behind advice', () => {
  test('of CPU: its shape, and what is requested and advised', () => {
    const told = cpuUsageTold(question());
    expect(told).toMatchObject({ of: 'last-day', request: 300, advised: 150, limit: undefined, until: 99 * MINUTE });
    expect(told?.median).toBeCloseTo(100, -1);
    expect(told?.highest).toBeGreaterThan(180);
    expect(told?.end).toBeGreaterThan(300);
    expect(told?.columns.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 2);
    expect(JSON.stringify(told?.columns).length).toBeLessThan(300);
  });

  test('of CPU by another method: all there was', () => {
    const { cpu, memory } = defaultPolicy;
    const target = { strategy: 'Percentile', percentile: 90, safetyFactor: 1.2 } as const;
    const told = cpuUsageTold(question({ rules: { cpu: { ...cpu, target }, memory } }));
    expect(told?.of).toBe('all-fading');
  });

  test('of memory: its peaks; a limit far away is told, and not in the picture', () => {
    const told = memoryUsageTold(question());
    expect(told).toMatchObject({ of: 'peaks', highest: 200 * MIB, request: 256 * MIB, advised: 220 * MIB });
    expect(told?.limit).toBe(1024 * MIB);
    expect(told?.end).toBeLessThan(1024 * MIB);
  });

  test('nothing is told of what nothing is known', () => {
    const profile = new UsageProfile(defaultProfileOptions);
    expect([cpuUsageTold(question({ profile })), memoryUsageTold(question({ profile }))]).toEqual([
      undefined,
      undefined,
    ]);
  });

  test.each([{}, { cpu: 'nonsense' }])('advice that is none marks nothing: %j', (advised) => {
    expect(cpuUsageTold(question({ advised }))?.advised).toBeUndefined();
  });
});
