import { expect, test } from 'vitest';
import { answer } from '../../act/resize-answers.ts';
import { ADMISSION } from '../../guard/size/size-history.ts';
import { aSizeLog, replicaSet, resize, sizeScene, web } from '../../guard/size/testing/size-scene.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { createSizingSnapshot } from '../../model/sizing-snapshot.ts';
import { validPolicy } from '../../model/testing/policies.ts';
import { NOON } from '../../model/testing/records.ts';
import { aContainer, aContainerStatus, aSizedPod } from '../../model/testing/sizing-records.ts';
import { everyEnd } from '../testing/resize-in-flight.ts';
import { createSizeActuator, type SizeActuatorOptions } from './actuator.ts';

test('what is remembered of pods and workloads that are gone is forgotten, so that it does not grow for ever', async () => {
  const clock = createVirtualClock(NOON);
  const history = aSizeLog();
  const actuator = createSizeActuator({
    view: createSizingSnapshot({
      workloads: [web],
      replicaSets: [replicaSet],
      pods: [aSizedPod(replicaSet, 'web-1', {}, { uid: 'web-1' })],
    }),
    clock,
    history,
    inFlight: { adopt: () => [], review: () => [] },
    disruptions: { list: () => [] },
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

test.each([
  ['its containers run without end: its kubelet cannot', 0, true],
  ['its containers end again and again: none ran at that instant', 3, false],
])('a pod is refused as on a node that cannot resize; %s', async (_, restartCount, needsNewPods) => {
  const containers = [aContainer()];
  const statuses = containers.map((each) => aContainerStatus(each, { restartCount }));
  const scene = sizeScene({ records: { pods: [aSizedPod(replicaSet, 'web-1', { statuses }, { uid: 'web-1' })] } });
  const refusal = answer('ResizeNotOnNode', 'recreate', 'Pod running on node without support for resize');
  const actuator = createSizeActuator({
    view: scene.view,
    usage: { profileOf: () => undefined, stateOf: () => ({}) },
    settings: () => ({ size: scene.settings }),
    leadership: () => scene.leadership,
    clock: createVirtualClock(NOON),
    history: aSizeLog(),
    inFlight: {
      list: () => [],
      begin: () => {},
      settle: (decision: unknown) => ({ kind: 'refused', decision, answer: refusal, retryAfterMillis: undefined }),
    },
    disruptions: { list: () => [], stateOf: () => undefined },
    isAllocated: () => false,
    otherResizes: () => [],
    servesResize: () => true,
    resize: async () => ({ result: 'refused', ...refusal }),
  } as unknown as SizeActuatorOptions);
  const outcome = await actuator.resize(resize(), validPolicy().spec, new AbortController().signal);
  expect(outcome).toEqual({ kind: 'refused', answer: refusal });
  expect(actuator.needsNewPods(web.uid) !== undefined).toBe(needsNewPods);
});

test('every end of a resize but that of its pod is counted, with the time it took', async () => {
  const clock = createVirtualClock(NOON);
  const metrics = createMetrics();
  const ends = everyEnd();
  const actuator = createSizeActuator({
    view: createSizingSnapshot({}),
    clock,
    metrics,
    history: aSizeLog(),
    inFlight: { adopt: () => [], review: () => ends.splice(0) },
    disruptions: { list: () => [] },
  } as unknown as SizeActuatorOptions);
  const ended = new AbortController();
  const running = actuator.run(ended.signal);
  await clock.advance(1);
  ended.abort();
  await running;
  const text = await metrics.render();
  const sums = [...text.matchAll(/^optipod_resize_duration_seconds_sum\{result="([^"]+)"\} (\d+)$/gm)];
  expect(Object.fromEntries(sums.map(([, result, sum]) => [result, Number(sum)]))).toEqual({
    done: 4,
    superseded: 4,
    failed: 8,
    withdrawn: 4,
  });
});
