import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { aContainer, MIB } from '../../model/testing/sizing-records.ts';
import { profileOf } from './testing/profiles.ts';
import { ask, NOW, policy, STEPS } from './testing/workload-question.ts';

describe('usage that cannot be read any more', () => {
  const unread = 'prometheus does not answer';

  // Feature: k8s-workload-rightsizing, Property 7: For any workload where metrics cannot be fetched, no change is made and the reason is told.
  test('Property 7: for any current sizes, nothing is due, and what is advised stays with the reason', () => {
    const amount = fc.integer({ min: 1, max: 4000 });
    fc.assert(
      fc.property(amount, amount, (cpuRequest, mebibytes) => {
        const containers = [aContainer({ size: { cpuRequest, memoryRequest: mebibytes * MIB } })];
        const [[read], [app]] = [ask({ containers }), ask({ containers, unread })];
        for (const resource of ['cpu', 'memory'] as const) {
          expect(app?.[resource].isDue).toBe(false);
          expect(app?.[resource].target).toBe(read?.[resource].target);
          if (read?.[resource].isDue !== true) continue;
          expect(app?.[resource].held).toBe('UsageUnread');
          expect(app?.[resource].notes.at(-1)?.text).toBe(unread);
        }
      }),
      { numRuns: 100 },
    );
  });

  test('but for the raise after a kill for want of memory, of which the pod tells itself', () => {
    const profile = profileOf(STEPS, { cpu: () => 200, memory: () => 100 * MIB });
    profile.memory.noteOom(128 * MIB, NOW);
    const containers = [aContainer({ size: { cpuRequest: 500, memoryRequest: 128 * MIB } })];
    const [app] = ask({ containers, profiles: { app: profile }, unread });
    expect(app?.memory.isDue).toBe(true);
    expect(app?.cpu).toMatchObject({ isDue: false, held: 'UsageUnread' });
    const ample = [aContainer({ size: { cpuRequest: 500, memoryRequest: 4000 * MIB } })];
    const [lowered] = ask({ containers: ample, profiles: { app: profile }, unread });
    expect(lowered?.memory).toMatchObject({ isDue: false, held: 'UsageUnread' });
  });

  test('also where the policy asks for as much as the kill shows to be needed, and only while there is less', () => {
    const profile = profileOf(STEPS, { cpu: () => 200, memory: () => 100 * MIB });
    profile.memory.noteOom(128 * MIB, NOW);
    const generous = { strategy: 'Percentile', percentile: 90, safetyFactor: 5 } as const;
    const memoryOf = (mebibytes: number) => {
      const containers = [aContainer({ size: { cpuRequest: 500, memoryRequest: mebibytes * MIB } })];
      const memory = { ...policy.memory, target: generous };
      return ask({ containers, profiles: { app: profile }, policy: { memory }, unread })[0]?.memory;
    };
    expect(memoryOf(128)).toMatchObject({ isDue: true, request: 500 * MIB });
    expect(memoryOf(300)).toMatchObject({ isDue: false, held: 'UsageUnread' });
  });
});
