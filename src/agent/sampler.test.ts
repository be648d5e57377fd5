import { cpSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
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
    for (const used of [0, 1]) {
      tree.setTop({ usageMicros: used * 900_000 });
      tree.setRoot({ usageMicros: used * 300_000 });
      other.setRoot({ usageMicros: used * 500_000 });
      cpSync(join(other.mount, 'nodes', 'two'), join(tree.mount, 'nodes', 'two'), { recursive: true });
      step();
    }
    expect(sampler.describe()).toMatch(/pods below nodes\/one\/kubepods$/);
    expect(sampler.node(1000)).toEqual({ total: 900, pods: 300, system: 600 });
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

  test('where the top of the tree counts nothing, the machine’s own count is the node’s', () => {
    const tree = plant();
    rmSync(join(tree.mount, 'cpu.stat'));
    const { sampler, step } = createSampling(tree);
    const totals = ['cpu  100 20 30 9000 5 0 0', 'cpu  120 30 50 9100 9 0 0', 'cpu  banana'].map((line) => {
      writeFileSync(join(tree.proc, 'stat'), `${line}\nbtime 1\n`);
      step();
      return sampler.node(1000).total;
    });
    // Of 500 ms: hundredths of a second, without what was idle.
    expect(totals).toEqual([undefined, 500, undefined]);
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

test('the longest window that readers were said to ask for is there, however long it has sampled', () => {
  const tree = plant();
  const pod = podOf(1);
  tree.add(pod);
  const { sampler, step } = createSampling(tree);
  sampler.track([tracked(pod)]);
  for (let second = 0; second < 150; second++) step();
  expect(sampler.pod(pod.uid)?.window(60_000)?.spanMillis).toBe(60_000);
});

test.each([
  ['by samples that come faster', 200, 60_000, 40_000],
  ['by a longer tick', 1000, 120_000, 100_000],
])('no window is cut short %s: settings are read after the first sample', (_, interval, longest, span) => {
  const tree = plant({ version: 2 });
  const pod = podOf(1, { containers: { main: fakeContainerId(1), side: fakeContainerId(2) } });
  tree.add(pod);
  const { sampler, step, pace } = createSampling(tree);
  sampler.track([tracked(pod)]);
  step();
  pace(interval, longest);
  tree.set(pod, undefined, { usageMicros: 4_000_000 });
  tree.set(pod, 'main', { usageMicros: 2_000_000 });
  tree.setTop({ usageMicros: 8_000_000 });
  tree.setRoot({ usageMicros: 4_000_000 });
  for (let millis = 0; millis < span; millis += interval) step(interval);
  const use = sampler.pod(pod.uid);
  const rate = 4_000_000 / span;
  expect(use?.window(span)).toMatchObject({ spanMillis: span, usageMillicores: rate });
  expect(use?.container('main')?.window(span)).toMatchObject({ spanMillis: span, usageMillicores: rate / 2 });
  expect(sampler.node(span)).toEqual({ total: 2 * rate, pods: rate, system: rate });
  sampler.close();
});
