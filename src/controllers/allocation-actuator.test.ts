import { expect, test } from 'vitest';
import { answer } from '../act/resize-answers.ts';
import { aSizeLog } from '../guard/size/testing/size-scene.ts';
import { createMetrics } from '../lib/metrics.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createSizingSnapshot } from '../model/sizing-snapshot.ts';
import { NOON } from '../model/testing/records.ts';
import { type AllocationActuatorOptions, createAllocationActuator } from './allocation-actuator.ts';
import type { ResizeEnd } from './resizes-in-flight.ts';
import { decisionFor } from './testing/resize-in-flight.ts';

test('every end of a resize but that of its pod is counted', async () => {
  const metrics = createMetrics();
  const decision = { ...decisionFor({ cpuRequest: 300 }), workload: undefined };
  const answered = { decision, tookMillis: 4_000, answer: answer('ResizeOverwritten', 'retry', 'by another') } as const;
  const ends: ResizeEnd[] = [
    { kind: 'done', decision, tookMillis: 4_000, restarted: false },
    { kind: 'superseded', ...answered },
    { kind: 'lost', decision, tookMillis: 4_000 },
    { kind: 'not-healed', ...answered },
    { kind: 'taken-back', ...answered, nodeName: undefined, withdrawal: undefined },
    { kind: 'gone', decision },
  ];
  const actuator = createAllocationActuator({
    view: createSizingSnapshot({}),
    clock: createVirtualClock(NOON),
    metrics,
    history: aSizeLog(),
    inFlight: { review: () => ends.splice(0) },
    events: { onPod: () => {} },
  } as unknown as AllocationActuatorOptions);
  await actuator.review(new AbortController().signal);
  const text = await metrics.render();
  const counts = [...text.matchAll(/^mbcas_controller_resize_total\{status="([^"]+)"\} ([1-9]\d*)$/gm)];
  expect(Object.fromEntries(counts.map(([, status, count]) => [status, Number(count)]))).toEqual({
    done: 2,
    superseded: 1,
    lost: 1,
    withdrawn: 1,
  });
});
