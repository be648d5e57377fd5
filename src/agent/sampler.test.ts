import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fakeContainerId } from './testing/fake-tree.ts';
import { plant, podOf } from './testing/planted-tree.ts';
import { createSampling, tracked } from './testing/sampling.ts';

const versions = [1, 2] as const;

const drivers = ['systemd', 'cgroupfs'] as const;

const runtimes = ['containerd', 'cri-o', 'docker'] as const;

const nestings: Readonly<Record<string, readonly string[]>> = {
  'a plain node': [],
  kind: ['kubelet'],
  'kind seen from its host': ['docker', 'f'.repeat(64), 'kubelet'],
  k3s: ['k3s'],
};

const layouts = versions.flatMap((version) =>
  drivers.flatMap((driver) =>
    runtimes.flatMap((runtime) =>
      Object.entries(nestings).map(([place, nesting]) => ({ version, driver, runtime, place, nesting })),
    ),
  ),
);

describe('layouts', () => {
  test.each(layouts)('cgroup v$version, $driver driver, $runtime, $place', (layout) => {
    const tree = plant(layout);
    const pods = (['guaranteed', 'burstable', 'besteffort'] as const).map((qos, index) =>
      podOf(index, { qos, containers: { main: fakeContainerId(index), side: fakeContainerId(index + 100) } }),
    );
    for (const pod of pods) tree.add(pod);
    const { sampler, step, warnings } = createSampling(tree);
    sampler.track(pods.map(tracked));
    step();
    pods.forEach((pod, index) => {
      const share = (index + 1) * 100_000;
      tree.set(pod, undefined, {
        usageMicros: share,
        periods: 10,
        throttledPeriods: index,
        quotaMicros: 50_000,
        weight: 59,
      });
      tree.set(pod, 'main', { usageMicros: share * 0.75, periods: 10, throttledPeriods: 2 * index });
      tree.set(pod, 'side', { usageMicros: share * 0.25 });
    });
    tree.setTop({ usageMicros: 900_000 });
    tree.setRoot({ usageMicros: 600_000 });
    step();
    pods.forEach((pod, index) => {
      const use = sampler.pod(pod.uid);
      expect(use?.window(1000)).toMatchObject({ usageMillicores: (index + 1) * 100, throttledRatio: index / 10 });
      expect(use?.settings()).toEqual({ quota: { quotaMicros: 50_000, periodMicros: 100_000 }, weight: 59 });
      expect(use?.container('main')?.window(1000)).toMatchObject({
        usageMillicores: (index + 1) * 75,
        throttledRatio: index / 5,
      });
      expect(use?.container('side')?.window(1000)).toMatchObject({
        usageMillicores: (index + 1) * 25,
        throttledRatio: undefined,
      });
    });
    expect(sampler.node(1000)).toEqual({ total: 900, pods: 600, system: 300 });
    expect(sampler.problems()).toEqual([]);
    expect(warnings).toEqual([]);
    sampler.close();
  });

  test('v1 with joint folders, and pressure from the v2 tree beside them', () => {
    const tree = plant({ version: 1, isJoint: true, hasUnified: true });
    const pod = podOf(1);
    tree.add(pod, { usageMicros: 0, pressureMicros: 0 });
    const { sampler, step } = createSampling(tree);
    sampler.track([tracked(pod)]);
    step();
    tree.set(pod, undefined, { usageMicros: 500_000, pressureMicros: 400_000 });
    step();
    expect(sampler.pod(pod.uid)?.window(1000)).toMatchObject({ usageMillicores: 500, pressureRatio: 0.4 });
    expect(sampler.describe()).toMatch(/^cgroup v1 at .*cpu,cpuacct, pods below kubepods\.slice$/);
  });

  test('two nodes on one machine: only the root that holds our pods counts as pods', () => {
    const tree = plant({ driver: 'cgroupfs', nesting: ['nodes', 'one'] });
    const pod = podOf(1);
    tree.add(pod);
    const other = plant({ driver: 'cgroupfs', nesting: ['nodes', 'two'] });
    other.add(podOf(2));
    const { sampler, step } = createSampling(tree);
    sampler.track([tracked(pod)]);
    step();
    expect(sampler.describe()).toContain('pods below nodes/one/kubepods');
  });

  test('without the CPU controller usage is still read, throttling is unknown', () => {
    const tree = plant({ hasCpuController: false });
    const pod = podOf(1);
    tree.add(pod);
    const { sampler, step } = createSampling(tree);
    sampler.track([tracked(pod)]);
    step();
    tree.set(pod, undefined, { usageMicros: 300_000 });
    step();
    expect(sampler.pod(pod.uid)?.window(1000)).toMatchObject({ usageMillicores: 300, throttledRatio: undefined });
    expect(sampler.pod(pod.uid)?.settings()).toBeUndefined();
    expect(sampler.problems()).toEqual([]);
  });

  test('no control groups at all is one sentence, and they are taken up when they come', () => {
    const tree = plant();
    const pod = podOf(1);
    tree.add(pod);
    const mount = join(tree.mount, '..', 'late');
    const { sampler, step, warnings } = createSampling({ mount, proc: tree.proc });
    sampler.track([tracked(pod)]);
    step();
    step();
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/late holds no control groups .* --cgroup-root$/);
    expect([sampler.isReading(), sampler.describe()]).toEqual([false, 'no control groups']);
    expect(sampler.node(1000)).toEqual({ total: undefined, pods: undefined, system: undefined });
    symlinkSync(tree.mount, mount);
    step();
    step();
    expect(sampler.pod(pod.uid)?.window(1000)).toBeDefined();
    expect(sampler.problems()).toEqual([]);
  });
});

describe('pods come and go', () => {
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

  test('a container that restarts is a new epoch under its new id, no negative and no huge rate', () => {
    const tree = plant();
    const before = podOf(1);
    tree.add(before);
    tree.set(before, 'main', { usageMicros: 5_000_000 });
    const { sampler, step } = createSampling(tree);
    sampler.track([tracked(before)]);
    step();
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

  test('a group made anew under the same name starts a new epoch, even if its counters are ahead', () => {
    const tree = plant();
    const pod = podOf(1);
    tree.add(pod, { usageMicros: 1000 });
    const { sampler, step } = createSampling(tree);
    sampler.track([tracked(pod)]);
    step();
    step();
    tree.remove(pod);
    step();
    expect(sampler.pod(pod.uid)?.window(1000)).toBeUndefined();
    tree.add(pod, { usageMicros: 50_000_000 });
    for (let second = 0; second < 4; second++) step();
    expect(sampler.pod(pod.uid)?.window(1000)?.usageMillicores).toBe(0);
  });

  test('what is no longer tracked is forgotten, and its files are closed', () => {
    const tree = plant();
    const pod = podOf(1);
    tree.add(pod);
    const { sampler, step } = createSampling(tree);
    sampler.track([tracked(pod)]);
    step();
    sampler.track([]);
    step();
    expect(sampler.pod(pod.uid)).toBeUndefined();
    expect(sampler.isReading()).toBe(false);
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
});
