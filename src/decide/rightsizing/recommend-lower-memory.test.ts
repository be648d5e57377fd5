import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MIB } from '../../model/testing/sizing-records.ts';
import type { RightsizingPolicy } from './policy.ts';
import { profileOf } from './testing/profiles.ts';
import { ask, container, policy, STEPS } from './testing/workload-question.ts';

describe('memory that falls', () => {
  test('never, where the policy says so; CPU all the same', () => {
    const [app] = ask({ policy: { memoryDecrease: 'Never' } });
    expect(app?.memory).toMatchObject({ isDue: false, held: 'MemoryDecreaseNotAllowed', target: 120 * MIB });
    expect(app?.cpu.isDue).toBe(true);
    expect(app?.memory.notes.find(({ stage }) => stage === 'step')?.text).toMatch(/: memoryDecrease is Never$/);
  });

  test.each([
    ['WhenSafe', 1.1],
    ['Always', 1],
  ] as const)('%s: a limit that follows stays at %s times the highest use', (memoryDecrease, margin) => {
    const target = { strategy: 'Percentile', percentile: 90, safetyFactor: 1 } as const;
    const limit = { policy: 'Multiplier', factor: 1 } as const;
    const [app] = ask({
      containers: [container('app', { memoryRequest: 100 * MIB, memoryLimit: 1024 * MIB })],
      policy: { memoryDecrease, mayChangeLimits: true, memory: { ...policy.memory, target, limit } },
    });
    expect(app?.memory).toMatchObject({ request: 100 * MIB, limit: Math.round(100 * MIB * margin) });
  });

  test('Never: a limit that follows stays where it is', () => {
    const limit = { policy: 'Multiplier', factor: 1 } as const;
    const [app] = ask({
      containers: [container('app', { memoryRequest: 100 * MIB, memoryLimit: 1024 * MIB })],
      policy: { memoryDecrease: 'Never', mayChangeLimits: true, memory: { ...policy.memory, limit } },
    });
    expect(app?.memory).toMatchObject({ isDue: true, request: 120 * MIB, limit: 1024 * MIB });
  });

  test('not below the recent peak, and the rest of the way later', () => {
    const peaky = profileOf(STEPS, { cpu: () => 200, memory: (step) => (step > STEPS - 20 ? 300 : 100) * MIB });
    const target = { strategy: 'Percentile', percentile: 50, safetyFactor: 1 } as const;
    const [app] = ask({ profiles: { app: peaky }, policy: { memory: { ...policy.memory, target } } });
    expect(app?.memory.target).toBeLessThan(300 * MIB);
    expect(app?.memory.request).toBe(300 * MIB);
    expect(app?.memory.notes.find(({ stage }) => stage === 'step')?.text).toMatch(/^not below the recent peak of /);
    const [always] = ask({
      profiles: { app: peaky },
      policy: { memory: { ...policy.memory, target }, memoryDecrease: 'Always' },
    });
    expect(always?.memory.request).toBe(always?.memory.target);
  });

  // Feature: k8s-workload-rightsizing, Property 5: a decrease that could end a pod for want of memory is not applied.
  test('Property 5: for any usage, sizes and limit rule, neither request nor limit falls below what was used lately', () => {
    const lowered = { requests: 0, limits: 0 };
    // What is advised of its own accord is what was usual; what was used lately is far above it.
    const target = { strategy: 'Percentile', percentile: 50, safetyFactor: 1 } as const;
    const usual = 10;
    fc.assert(
      fc.property(
        fc.integer({ min: 20, max: 2000 }),
        fc.integer({ min: 1, max: 4000 }),
        fc.nat(4000),
        fc.constantFrom<RightsizingPolicy['memory']['limit']>(
          { policy: 'Keep' },
          { policy: 'Ratio' },
          { policy: 'Multiplier', factor: 1.1 },
          { policy: 'Headroom', headroom: 8 * MIB },
        ),
        (used, request, room, limit) => {
          const memoryRequest = request * MIB;
          const memoryLimit = (request + room) * MIB;
          const [app] = ask({
            containers: [container('app', { cpuRequest: 500, cpuLimit: 900, memoryRequest, memoryLimit })],
            profiles: {
              app: profileOf(STEPS, { cpu: () => 200, memory: (step) => (step > STEPS - 20 ? used : usual) * MIB }),
            },
            policy: { mayChangeLimits: limit.policy !== 'Keep', memory: { ...policy.memory, target, limit } },
          });
          if (app?.memory.isDue !== true) return;
          const to = app.memory;
          if ((to.request ?? 0) < memoryRequest) {
            lowered.requests++;
            expect(to.request).toBeGreaterThanOrEqual(Math.min(used * MIB, memoryRequest));
          }
          if (to.limit !== undefined && to.limit < memoryLimit) {
            lowered.limits++;
            expect(to.limit).toBeGreaterThanOrEqual(Math.floor(used * 1.1 * MIB));
          }
        },
      ),
      { numRuns: 200 },
    );
    expect(lowered.requests).toBeGreaterThan(20);
    expect(lowered.limits).toBeGreaterThan(20);
  });
});
