/** Raises beside containers that are to have less: what is not lowered now leaves them no room. */
import { expect, test } from 'vitest';
import { aLimitRange, aQuota, MIB } from '../../model/testing/sizing-records.ts';
import type { UsageProfile } from '../../model/usage-profile.ts';
import type { ContainerKnowledge } from './recommend-workload.ts';
import { DAY, profileOf } from './testing/profiles.ts';
import { ask, container, eager, NOW, policy, STEPS } from './testing/workload-question.ts';

const app = container('app', { cpuRequest: 200, memoryRequest: 50 * MIB });
const log = (mib: number) => container('log', { cpuRequest: 200, memoryRequest: mib * MIB });
/** Both use 100Mi, of which 120Mi are made. */
const usual = (): UsageProfile => profileOf(STEPS, { cpu: () => 200, memory: () => 100 * MIB });
const changing = (change: Partial<typeof eager>) => ({
  memory: { ...policy.memory, change: { ...eager, ...change } },
});
const podOf = (mib: number) => ({ limitRanges: [aLimitRange({ type: 'Pod', max: { memory: mib * MIB } })] });
/** It has 20Mi left. */
const quotas = [aQuota({ hard: { memoryRequest: 2000 * MIB }, used: { memoryRequest: 1980 * MIB } })];

test('what falls by too little to be changed', () => {
  const [raised, kept] = ask({
    containers: [app, log(125)],
    around: podOf(185),
    policy: changing({ minChange: 0.1 }),
  });
  expect(kept?.memory).toMatchObject({ isDue: false, held: 'WithinMinChange', target: 120 * MIB });
  expect(raised?.memory).toMatchObject({ isDue: true, request: 60 * MIB, capped: 'AtLimitRange' });
});

test('what is in the pause after its last change', () => {
  const knowledgeOf = (name: string): ContainerKnowledge => ({
    profile: usual(),
    window: undefined,
    floors: undefined,
    lastChange: { cpu: undefined, memory: name === 'log' ? NOW - 1000 : undefined },
  });
  const [raised, kept] = ask({
    containers: [app, log(512)],
    knowledgeOf,
    around: { quotas, replicas: 1 },
    policy: changing({ cooldownDownMillis: DAY }),
  });
  expect(kept?.memory).toMatchObject({ isDue: false, held: 'Cooldown', target: 120 * MIB });
  expect(raised?.memory).toMatchObject({ isDue: true, request: 70 * MIB });
});

test('what is held back as no usage is read, while another is killed for want of memory', () => {
  const killed = usual();
  killed.memory.noteOom(50 * MIB, NOW - 1000);
  const [raised, kept] = ask({
    containers: [app, log(512)],
    profiles: { app: killed, log: usual() },
    around: { quotas, replicas: 1 },
    unread: 'it does not answer',
  });
  expect(kept?.memory).toMatchObject({ isDue: false, held: 'UsageUnread' });
  expect(raised?.memory).toMatchObject({ isDue: true, request: 70 * MIB });
});

test('what is lowered now does, as far as it goes in one step; how far it is to go is told all the same', () => {
  const asked = (mib: number) =>
    ask({ containers: [app, log(mib)], around: podOf(mib + 50), policy: changing({ maxStepDown: 0.1 }) });
  const [raised, lowered] = asked(512);
  expect(lowered?.memory).toMatchObject({ isDue: true, target: 120 * MIB });
  expect(lowered?.memory.request).toBeGreaterThan(460 * MIB);
  expect(raised?.memory.request).toBe(50 * MIB + (512 * MIB - (lowered?.memory.request ?? 0)));
  expect(asked(2000)[0]?.memory.request).toBe(120 * MIB);
});
