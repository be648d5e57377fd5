import { describe, expect, test } from 'vitest';
import type { EvictToResizeDecision } from '../../decide/size-decision.ts';
import { ADMISSION } from '../../guard/size/size-history.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import type { QuotaRecord } from '../../model/sizing-records.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { validPolicy } from '../../model/testing/policies.ts';
import { NOON } from '../../model/testing/records.ts';
import {
  aContainer,
  aContainerStatus,
  aQuota,
  aSizedPod,
  aSizedWorkload,
  MIB,
} from '../../model/testing/sizing-records.ts';
import type { ApplyContext } from './apply.ts';
import { createRightsizingMemory } from './memory.ts';
import { createPodReplacement, type PodReplacementOptions } from './pod-replacement.ts';

test('a pod that still has what did harm is replaced as one for which harm is put back', async () => {
  const asked: EvictToResizeDecision[] = [];
  const replacement = createPodReplacement({
    actuator: {
      async evict(decision: EvictToResizeDecision) {
        asked.push(decision);
        return { kind: 'gone' };
      },
    },
    clock: createVirtualClock(NOON),
  } as unknown as PodReplacementOptions);
  const workload = aSizedWorkload();
  const memory = createRightsizingMemory().of(workload.uid);
  memory.watches.resume(() => ({ ongoing: [], takenBack: [{ container: 'app', resource: 'memory' }] }));
  const context = {
    advised: { workload },
    policy: validPolicy(),
    memory,
    live: [],
    signal: new AbortController().signal,
  } as unknown as ApplyContext;
  const pod = aSizedPod(workload, 'web-1');
  const drifted = (to: object) => [{ pod: { pod, sizing: pod.sizing }, changes: [{ container: 'app', to }] }];
  await replacement.evictOne(context, drifted({ memoryRequest: 500 }));
  await replacement.evictOne(context, drifted({ cpuRequest: 500 }));
  expect(asked.map(({ isRestore }) => isRestore)).toEqual([true, false]);
});

test.each([
  ['the end of a rollout', true, 'TemplateRollout'],
  ['what a quota keeps for pods that are missing', false, 'QuotaKept'],
] as const)(
  'one that was killed for want of memory is asked for before one that is only late and waits for %s',
  async (_, isRollingOut, reason) => {
    const replacement = createPodReplacement({
      actuator: {
        tryEviction: ({ pod: { name } }: EvictToResizeDecision) =>
          name === 'killed' ? { kind: 'gone' } : { kind: 'blocked', block: { reason } },
      },
      clock: createVirtualClock(NOON),
    } as unknown as PodReplacementOptions);
    const workload = aSizedWorkload({ isRollingOut });
    const memory = createRightsizingMemory().of(workload.uid);
    const context = { advised: { workload }, policy: validPolicy(), memory, live: [] } as unknown as ApplyContext;
    const lastTermination = { reason: 'OOMKilled', exitCode: 137, finishedAt: NOON };
    const drifted = [{}, { lastTermination }].map((status, index) => {
      const statuses = [aContainerStatus(aContainer(), status)];
      const { sizing, ...pod } = aSizedPod(workload, ['late', 'killed'][index] ?? '', { statuses });
      return { pod: { pod, sizing }, changes: [{ container: 'app', to: { memoryRequest: 500 } }] };
    });
    expect((await replacement.tryOne(context, drifted))?.attempt).toEqual({ kind: 'gone' });
  },
);

test.each([
  ['made after it, though by a clock that is behind', 'new', -10_000, false, 1],
  ['that was there, though by a clock that is ahead', 'old', 10_000, false, 0],
  ['made after it, but not where other sizes were put in force since', 'new', 10_000, true, 0],
])('the last eviction is judged, once, by a pod %s: or not', async (_, uid, ahead, isChanged, expected) => {
  let judged = 0;
  const replacement = createPodReplacement({
    actuator: { evict: async () => ({ kind: 'asked', tookFrom: [] }) },
    history: { recordEffective: () => void judged++, recordSuccess: () => {} },
    events: { onWorkload: () => {} },
    journal: { record: () => {} },
    clock: createVirtualClock(NOON),
  } as unknown as PodReplacementOptions);
  const workload = aSizedWorkload();
  const memory = createRightsizingMemory().of(workload.uid);
  const podOf = (name: string): SizedPod => {
    const { sizing, ...pod } = aSizedPod(workload, name, {}, { uid: name, createdAt: NOON + ahead });
    return { pod, sizing };
  };
  const pods = ['gone', 'old'].map(podOf);
  const signal = new AbortController().signal;
  const context = { advised: { workload, pods }, policy: validPolicy(), memory, live: pods, signal };
  const changes = [{ container: 'app', to: { memoryRequest: 500 } }];
  await replacement.evictOne(context as unknown as ApplyContext, [{ pod: podOf('gone'), changes }]);
  if (isChanged) memory.times.noteInForce();
  for (let look = 0; look < 2; look++)
    replacement.judgeLast({ ...context, live: [podOf(uid)] } as unknown as ApplyContext, []);
  expect(judged).toBe(expected);
});

describe('a replacement that came without the size in force', () => {
  const template = aContainer({ size: { memoryRequest: 512 * MIB } });
  const judge = async (
    memoryRequest: number,
    managers: readonly string[] = [],
    wanted = 128 * MIB,
    quotas: readonly QuotaRecord[] = [],
  ) => {
    const told: string[] = [];
    const history = {
      recordEffective: (uid: string) => void told.push(`effective ${uid}`),
      recordSuccess: (uid: string) => void told.push(`success ${uid}`),
      recordIneffective: (uid: string) => void told.push(`ineffective ${uid}`),
      recordFailure: (uid: string, _: number, cause: string) => void told.push(`failure ${uid}: ${cause}`),
    };
    const replacement = createPodReplacement({
      actuator: { evict: async () => ({ kind: 'asked', tookFrom: [] }) },
      history,
      events: { onWorkload: () => {} },
      journal: { record: () => {} },
      view: { quotas: () => quotas },
      clock: createVirtualClock(NOON),
    } as unknown as PodReplacementOptions);
    const workload = aSizedWorkload({ containers: [template] });
    const containers = [aContainer({ size: { memoryRequest } })];
    const { sizing, ...pod } = aSizedPod(
      workload,
      'web-2',
      { containers, sizeManagers: managers },
      { createdAt: NOON },
    );
    const memory = createRightsizingMemory().of(workload.uid);
    const context = { advised: { workload, pods: [] }, policy: validPolicy(), live: [], memory };
    const changes = [{ container: 'app', to: { memoryRequest: wanted } }];
    const drifted = [{ pod: { pod, sizing }, changes }];
    await replacement.evictOne(context as unknown as ApplyContext, drifted);
    replacement.judgeLast({ ...context, live: [{ pod, sizing }] } as unknown as ApplyContext, drifted);
    return told;
  };

  test('and with that of the template was not admitted through the webhook: no workload is to be evicted for it', async () => {
    const cause = 'the new pod web-2 was admitted with the size of the template';
    expect(await judge(512 * MIB)).toEqual([
      `failure uid-web: ${cause}`,
      `failure ${ADMISSION}: ${cause}`,
      'ineffective uid-web',
    ]);
  });

  test('or with that as a quota has no room for more, says nothing of the admission of others', async () => {
    const quotaWith = (free: number) =>
      aQuota({ name: 'team', hard: { memoryRequest: 1024 * MIB }, used: { memoryRequest: (1024 - free) * MIB } });
    expect(await judge(512 * MIB, [], 768 * MIB, [quotaWith(255)])).toEqual([
      'failure uid-web: the new pod web-2 was admitted with the size of the template: ResourceQuota team has no room for more',
      'ineffective uid-web',
    ]);
    expect(await judge(512 * MIB, [], 768 * MIB, [quotaWith(256)])).toHaveLength(3);
  });

  test('but with about that one was changed by somebody else: this workload is left alone, and no other', async () => {
    expect(await judge(160 * MIB)).toEqual([
      'failure uid-web: the new pod web-2 was admitted with another size than the one in force: somebody else changes it',
      'ineffective uid-web',
    ]);
  });

  test.each([128, 512])(
    'or that somebody else has resized since, to %i MiB, says nothing of how it was admitted',
    async (mib) => {
      expect(await judge(mib * MIB, ['kubectl-edit'])).toEqual([]);
    },
  );
});
