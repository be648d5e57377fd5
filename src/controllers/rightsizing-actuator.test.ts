import { expect, test } from 'vitest';
import { ADMISSION } from '../guard/size/size-history.ts';
import { aSizeLog } from '../guard/size/testing/size-scene.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createSizingSnapshot } from '../model/sizing-snapshot.ts';
import { aDeployment, aReplicaSet, NOON } from '../model/testing/records.ts';
import { aSizedPod, aSizedWorkload } from '../model/testing/sizing-records.ts';
import { createSizeActuator, type SizeActuatorOptions } from './rightsizing-actuator.ts';

test('what is remembered of pods and workloads that are gone is forgotten, so that it does not grow for ever', async () => {
  const clock = createVirtualClock(NOON);
  const history = aSizeLog();
  const web = aSizedWorkload();
  const replicaSet = aReplicaSet(aDeployment({ uid: web.uid }));
  const actuator = createSizeActuator({
    view: createSizingSnapshot({
      workloads: [web],
      replicaSets: [replicaSet],
      pods: [aSizedPod(replicaSet, 'web-1', {}, { uid: 'web-1' })],
    }),
    clock,
    history,
    inFlight: { adopt: () => [], review: () => [] },
    disruptions: () => ({ list: () => [] }),
  } as unknown as SizeActuatorOptions);
  for (const uid of ['web-1', 'replaced', web.uid, 'deleted', ADMISSION]) history.recordFailure(uid, NOON, 'no');
  const ended = new AbortController();
  const running = actuator.run(ended.signal);
  await clock.advance(601_000);
  const known = ['web-1', 'replaced', web.uid, 'deleted', ADMISSION].filter((uid) => history.failed(uid) !== undefined);
  expect(known).toEqual(['web-1', web.uid, ADMISSION]);
  ended.abort();
  await running;
  expect(clock.pendingTimers()).toBe(0);
});
