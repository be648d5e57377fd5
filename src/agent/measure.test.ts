import { expect, test } from 'vitest';
import { measure } from './measure.ts';
import { fakeContainerId } from './testing/fake-tree.ts';
import { plant, podOf } from './testing/planted-tree.ts';
import { createSampling, tracked } from './testing/sampling.ts';

/** A second of a pod whose sidecar is throttled in three of ten periods, and whose main container has no quota. */
function measured(fixed: readonly string[]) {
  const tree = plant();
  const pod = podOf(1, { containers: { main: fakeContainerId(1), side: fakeContainerId(2) } });
  tree.add(pod);
  const { sampler, step } = createSampling(tree);
  sampler.track([tracked(pod)]);
  step();
  tree.set(pod, undefined, { usageMicros: 400_000 });
  tree.set(pod, 'main', { usageMicros: 300_000 });
  tree.set(pod, 'side', { usageMicros: 100_000, periods: 10, throttledPeriods: 3 });
  step();
  return measure(sampler.pod(pod.uid), { all: ['main', 'side', 'gone'], fixed: new Set(fixed) }, 1000, 0);
}

test('each container with what it used, and how it was throttled itself where it has a quota', () => {
  expect(measured([])?.containers).toEqual([
    { name: 'main', usage: 300 },
    { name: 'side', usage: 100, throttledRatio: 0.3 },
  ]);
});

test('throttling of a container that gets no more whatever the pod gets is told, and asks for nothing', () => {
  expect(measured([])).toMatchObject({ usage: 400, throttledRatio: 0.3 });
  const beside = measured(['side']);
  expect(beside).toMatchObject({ usage: 400, fixedRatio: 0.3, containers: [{}, { throttledRatio: 0.3 }] });
  expect(beside?.throttledRatio).toBeUndefined();
});
