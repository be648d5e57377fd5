import { expect, test } from 'vitest';
import { aSizeLog } from '../../guard/size/testing/size-scene.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { createSizingSnapshot } from '../../model/sizing-snapshot.ts';
import { NOON } from '../../model/testing/records.ts';
import { everyEnd } from '../testing/resize-in-flight.ts';
import { type AllocationActuatorOptions, createAllocationActuator } from './actuator.ts';

test('every end of a resize but that of its pod is counted', async () => {
  const metrics = createMetrics();
  const ends = everyEnd();
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
