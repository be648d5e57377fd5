/** Pods that come, go and come back, as their sampler takes them. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fakeContainerId } from './testing/fake-tree.ts';
import { plant, podOf } from './testing/planted-tree.ts';
import { createSampling, tracked } from './testing/sampling.ts';

test('a pod whose group appears later is found without being asked for again', () => {
  const tree = plant();
  const [first, second] = [podOf(1), podOf(2)];
  tree.add(first);
  const { sampler, step } = createSampling(tree);
  sampler.track([tracked(first), tracked(second)]);
  for (let second_ = 0; second_ < 3; second_++) step();
  expect(sampler.pod(second.uid)?.lastMillis()).toBeUndefined();
  tree.add(second);
  for (let second_ = 0; second_ < 6; second_++) step();
  expect(sampler.pod(second.uid)?.lastMillis()).toBe(9000);
});

test('a new pod is looked for at once, however long others have been missing', () => {
  const tree = plant();
  const [never, ready, starting] = [podOf(1), podOf(2), podOf(3)];
  const { sampler, step } = createSampling(tree);
  sampler.track([tracked(never)]);
  // By now the pauses between two looks are half a minute.
  for (let second = 0; second < 95; second++) step();
  tree.add(ready);
  sampler.track([never, ready, starting].map(tracked));
  step();
  expect(sampler.pod(ready.uid)?.lastMillis()).toBe(96_000);
  step();
  tree.add(starting);
  for (let second = 0; second < 4; second++) step();
  expect(sampler.pod(starting.uid)?.lastMillis()).toBe(101_000);
});

test('a group made anew long after others were missing is looked for at once as well', () => {
  const tree = plant();
  const [late, pod] = [podOf(1), podOf(2)];
  tree.add(pod);
  const { sampler, step } = createSampling(tree);
  sampler.track([late, pod].map(tracked));
  for (let second = 0; second < 50; second++) step();
  tree.add(late);
  for (let second = 0; second < 50; second++) step();
  tree.remove(pod);
  step();
  step();
  tree.add(pod);
  for (let second = 0; second < 5; second++) step();
  expect(sampler.pod(pod.uid)?.lastMillis()).toBe(107_000);
});

test('a driver that is changed under the kubelet moves new pods to another root: they are found, and both roots count', () => {
  const tree = plant({ driver: 'cgroupfs' });
  const [old, young] = [podOf(1), podOf(2)];
  tree.add(old);
  const { sampler, step } = createSampling(tree);
  sampler.track([tracked(old)]);
  step();
  const moved = plant({ driver: 'systemd' });
  moved.add(young);
  cpSync(join(moved.mount, 'kubepods.slice'), join(tree.mount, 'kubepods.slice'), { recursive: true });
  sampler.track([old, young].map(tracked));
  for (let second = 0; second < 4; second++) step();
  expect(sampler.pod(young.uid)?.lastMillis()).toBe(5000);
  expect(sampler.describe()).toMatch(/pods below kubepods(\.slice)?, kubepods(\.slice)?$/);
});

test('a container that restarts is a new epoch under its new id, no negative and no huge rate', () => {
  const tree = plant();
  const before = podOf(1);
  tree.add(before);
  tree.set(before, 'main', { usageMicros: 5_000_000 });
  const { sampler, step, openFiles } = createSampling(tree);
  sampler.track([tracked(before)]);
  step();
  const open = openFiles();
  const after = podOf(1, { containers: { main: fakeContainerId(77) } });
  tree.remove(before, 'main');
  tree.add(after, { usageMicros: 5_000_000 });
  tree.set(after, 'main', { usageMicros: 10_000 });
  sampler.track([tracked(after)]);
  step();
  expect(sampler.pod(after.uid)?.container('main')?.window(1000)).toBeUndefined();
  tree.set(after, 'main', { usageMicros: 60_000 });
  step();
  expect(sampler.pod(after.uid)?.container('main')?.window(1000)?.usageMillicores).toBe(50);
  // One that restarts for weeks must not leave a file each time.
  expect(openFiles()).toBe(open);
});

test('pods and containers that come beside it cost a pod nothing of what was counted', () => {
  const tree = plant();
  const before = podOf(1);
  tree.add(before);
  const { sampler, step } = createSampling(tree);
  sampler.track([tracked(before)]);
  step();
  step();
  const after = podOf(1, { containers: { main: fakeContainerId(1), side: fakeContainerId(2) } });
  tree.add(after);
  sampler.track([tracked(after), tracked(podOf(2))]);
  const use = sampler.pod(after.uid);
  expect([use?.window(1000)?.spanMillis, use?.container('main')?.window(1000)?.spanMillis]).toEqual([1000, 1000]);
  step();
  expect([use?.lastMillis(), use?.container('side')?.lastMillis()]).toEqual([3000, 3000]);
});

test('the pressure of a container is read beside others only: alone it is its pod', () => {
  const tree = plant();
  const alone = podOf(1);
  tree.add(alone, { usageMicros: 0, pressureMicros: 0 });
  const { sampler, step } = createSampling(tree);
  sampler.track([tracked(alone)]);
  const pressures = () => {
    const use = sampler.pod(alone.uid);
    return [use, use?.container('main')].map((each) => each?.window(1000)?.pressureRatio);
  };
  for (const pressureMicros of [100_000, 300_000]) {
    tree.set(alone, undefined, { usageMicros: 0, pressureMicros });
    step();
  }
  expect(pressures()).toEqual([0.2, undefined]);
  const both = podOf(1, { containers: { main: fakeContainerId(1), side: fakeContainerId(2) } });
  tree.add(both, { usageMicros: 0, pressureMicros: 300_000 });
  sampler.track([tracked(both)]);
  for (const pressureMicros of [300_000, 400_000]) {
    for (const container of [undefined, 'main']) tree.set(both, container, { usageMicros: 0, pressureMicros });
    step();
  }
  expect(pressures()).toEqual([0.1, 0.1]);
});

test('the status may still name the old container: its figures end, others go on', () => {
  const tree = plant();
  const pod = podOf(1, { containers: { main: fakeContainerId(1), side: fakeContainerId(2) } });
  tree.add(pod);
  const { sampler, step } = createSampling(tree);
  sampler.track([tracked(pod)]);
  step();
  tree.remove(pod, 'main');
  step();
  expect(sampler.pod(pod.uid)?.container('main')?.window(1000)).toBeUndefined();
  expect(sampler.pod(pod.uid)?.container('side')?.window(1000)).toBeDefined();
  expect(sampler.isReading()).toBe(true);
});

test.each([1, 2] as const)(
  'v%i: a group made anew under the same name starts a new epoch, even if its counters are ahead',
  (version) => {
    const tree = plant({ version, hasUnified: true });
    const pod = podOf(1);
    tree.add(pod, { usageMicros: 1000, pressureMicros: 0 });
    const { sampler, step, openFiles } = createSampling(tree);
    sampler.track([tracked(pod)]);
    step();
    step();
    const open = openFiles();
    tree.remove(pod);
    step();
    expect(sampler.pod(pod.uid)?.window(1000)).toBeUndefined();
    expect(sampler.pod(pod.uid)?.container('main')?.window(1000)).toBeUndefined();
    // Those of the pod, in v1 in three trees, and of its container, of which no pressure is read.
    expect(openFiles()).toBe(open - (version === 1 ? 5 : 3));
    tree.add(pod, { usageMicros: 50_000_000, pressureMicros: 0 });
    for (let second = 0; second < 4; second++) step();
    expect(sampler.pod(pod.uid)?.window(1000)?.usageMillicores).toBe(0);
    expect(sampler.pod(pod.uid)?.container('main')?.window(1000)?.usageMillicores).toBe(0);
  },
);

test('what is no longer tracked is forgotten, and its files are closed', () => {
  const tree = plant();
  const pod = podOf(1);
  tree.add(pod);
  const { sampler, step, openFiles } = createSampling(tree);
  sampler.track([tracked(pod)]);
  step();
  const open = openFiles();
  sampler.track([]);
  step();
  expect(sampler.pod(pod.uid)).toBeUndefined();
  expect(sampler.isReading()).toBe(false);
  // The pod's and its container's.
  expect(openFiles()).toBe(open - 2);
  sampler.close();
  expect(openFiles()).toBe(0);
});

test('how long a group has been missing counts from the last time it was there', () => {
  const tree = plant();
  const pod = podOf(1);
  const { sampler, step, warnings } = createSampling(tree);
  sampler.track([tracked(pod)]);
  for (let second = 0; second < 5; second++) step();
  tree.add(pod);
  for (let second = 0; second < 40; second++) step();
  tree.remove(pod);
  for (let second = 0; second < 25; second++) step();
  expect(warnings).toEqual([]);
  for (let second = 0; second < 40; second++) step();
  expect(warnings).toHaveLength(2);
});

test('a pod without a group is told of once, after a while, and no more when it has one', () => {
  const tree = plant();
  const { sampler, step, warnings } = createSampling(tree);
  const pod = podOf(1);
  sampler.track([tracked(pod)]);
  for (let second = 0; second < 29; second++) step();
  expect(warnings).toEqual([]);
  for (let second = 0; second < 20; second++) step();
  expect(warnings.filter((each) => each.startsWith('pod '))).toHaveLength(1);
  tree.add(pod);
  for (let second = 0; second < 70; second++) step();
  expect(sampler.problems()).toEqual([]);
});

test('the longer a group has been missing, the more seldom it is looked for, but at least each half minute', () => {
  const tree = plant();
  const pod = podOf(1);
  const { sampler, step } = createSampling(tree);
  sampler.track([tracked(pod)]);
  for (let second = 0; second < 200; second++) step();
  tree.add(pod);
  // Each time may be a look into thousands of folders.
  for (let second = 0; second < 5; second++) step();
  expect(sampler.pod(pod.uid)?.lastMillis()).toBeUndefined();
  for (let second = 0; second < 25; second++) step();
  expect(sampler.pod(pod.uid)?.lastMillis()).toBe(230_000);
});
