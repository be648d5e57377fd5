import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { plant, podOf } from './testing/planted-tree.ts';
import { createSampling, tracked } from './testing/sampling.ts';

describe('what is set on a group', () => {
  test('allocation bug 18: a quota that somebody reset is seen at the next look', () => {
    const tree = plant();
    const pod = podOf(1);
    tree.add(pod, { usageMicros: 0, quotaMicros: 50_000, weight: 20 });
    const { sampler, step } = createSampling(tree);
    sampler.track([tracked(pod)]);
    step();
    expect(sampler.pod(pod.uid)?.settings()?.quota?.quotaMicros).toBe(50_000);
    tree.set(pod, undefined, { usageMicros: 0, weight: 39 });
    expect(sampler.pod(pod.uid)?.settings()).toEqual({
      quota: { quotaMicros: undefined, periodMicros: 100_000 },
      weight: 39,
    });
  });

  test('allocation bug 4: quotas of pod and container that differ by rounding are both read as they are', () => {
    const tree = plant();
    const pod = podOf(1);
    tree.add(pod);
    const { sampler, step } = createSampling(tree);
    sampler.track([tracked(pod)]);
    step();
    tree.set(pod, undefined, { usageMicros: 0, quotaMicros: 42_000 });
    tree.set(pod, 'main', { usageMicros: 0, quotaMicros: 41_700 });
    const use = sampler.pod(pod.uid);
    expect([use?.settings()?.quota?.quotaMicros, use?.container('main')?.settings()?.quota?.quotaMicros]).toEqual([
      42_000, 41_700,
    ]);
  });
});

describe('a file that is not as it should be', () => {
  test('is one clear sentence with path and text; the last figures are kept but grow old', () => {
    const tree = plant();
    const pod = podOf(1);
    tree.add(pod);
    const { sampler, step, warnings } = createSampling(tree);
    sampler.track([tracked(pod)]);
    step();
    step();
    const file = tree.file(pod, undefined, 'cpu.stat');
    writeFileSync(file, 'usage_usec banana\n');
    step();
    step();
    expect(warnings).toEqual([`${file} is not understood: "usage_usec banana\\n"`]);
    expect(sampler.pod(pod.uid)?.lastMillis()).toBe(2000);
    tree.set(pod, undefined, { usageMicros: 100_000 });
    step();
    expect(sampler.problems()).toEqual([]);
    expect(sampler.pod(pod.uid)?.lastMillis()).toBe(5000);
    writeFileSync(file, 'usage_usec banana\n');
    step();
    expect(warnings).toHaveLength(2);
  });

  test.each(['cpu.stat', 'cpuacct.usage', 'cpu.cfs_quota_us', 'cpu.shares', 'cpu.pressure'])(
    'fuzz: whatever %s holds, nothing throws and no figure is wrong',
    (name) => {
      const tree = plant({ version: 1, hasUnified: true });
      const pod = podOf(1);
      const whole = podOf(2);
      tree.add(pod, { usageMicros: 1000, pressureMicros: 5 });
      tree.add(whole);
      const { sampler, step } = createSampling(tree);
      sampler.track([tracked(pod), tracked(whole)]);
      step();
      fc.assert(
        fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constant('x'.repeat(9000))), (text) => {
          writeFileSync(tree.file(pod, undefined, name), text);
          step();
          const use = sampler.pod(pod.uid);
          for (const value of Object.values({ ...use?.window(1000), weight: use?.settings()?.weight }))
            expect(value === undefined || (Number.isFinite(value) && value >= 0)).toBe(true);
          expect(sampler.pod(whole.uid)?.window(1000)).toBeDefined();
        }),
        { numRuns: 60 },
      );
    },
  );

  test('of the node as a whole: for a moment nothing is known, instead of what two counters differ by', () => {
    const tree = plant();
    const pod = podOf(1);
    tree.add(pod);
    const { sampler, step } = createSampling(tree);
    sampler.track([tracked(pod)]);
    writeFileSync(join(tree.proc, 'stat'), 'cpu  900000000 0 0 0 0 0 0 0 0 0\n');
    const totals: (number | undefined)[] = [];
    for (let second = 1; second <= 6; second++) {
      tree.setTop({ usageMicros: second * 500_000 });
      if (second === 3) writeFileSync(join(tree.mount, 'cpu.stat'), 'usage_usec banana\n');
      step();
      totals.push(sampler.node(1000).total);
    }
    expect(totals).toEqual([undefined, 500, undefined, undefined, 500, 500]);
  });

  test('a folder in place of a file, and a file in place of a folder', () => {
    const tree = plant();
    const pod = podOf(1);
    tree.add(pod);
    const { sampler, step } = createSampling(tree);
    const folder = dirname(tree.file(pod, 'main', 'cpu.stat'));
    rmSync(folder, { recursive: true });
    writeFileSync(folder, '');
    sampler.track([tracked(pod)]);
    step();
    step();
    expect(sampler.pod(pod.uid)?.window(1000)).toBeDefined();
    expect(sampler.pod(pod.uid)?.container('main')?.window(1000)).toBeUndefined();
  });
});
