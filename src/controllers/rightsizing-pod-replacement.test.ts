import { expect, test } from 'vitest';
import type { EvictToResizeDecision } from '../decide/size-decision.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { validPolicy } from '../model/testing/policies.ts';
import { NOON } from '../model/testing/records.ts';
import { aSizedPod, aSizedWorkload } from '../model/testing/sizing-records.ts';
import type { ApplyContext } from './rightsizing-apply.ts';
import { createRightsizingMemory } from './rightsizing-memory.ts';
import { createPodReplacement, type PodReplacementOptions } from './rightsizing-pod-replacement.ts';

test('a pod that still has what did harm is replaced as one for which harm is put back', async () => {
  const asked: EvictToResizeDecision[] = [];
  const replacement = createPodReplacement({
    actuator: {
      async evict(decision) {
        asked.push(decision);
        return { kind: 'gone' };
      },
    },
    clock: createVirtualClock(NOON),
  } as Partial<PodReplacementOptions> as PodReplacementOptions);
  const workload = aSizedWorkload();
  const memory = createRightsizingMemory().of(workload.uid);
  memory.takenBack = [{ container: 'app', resource: 'memory' }];
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
