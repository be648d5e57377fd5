/** Limits that were in force and are no more: seen in the kernel's files, told once, and set anew once by a wish for a resize. */
import { describe, expect, test } from 'vitest';
import { readMarks } from '../decide/allocation/marks.ts';
import { defaultAllocationRules } from '../decide/allocation/rules.ts';
import { T0, testPod } from '../decide/allocation/testing/pods.ts';
import type { AgentPod } from './node-stores.ts';
import { planTick } from './planner.ts';
import { createQuotaCheck } from './quota-check.ts';
import type { FakePod } from './testing/fake-tree.ts';
import { plant, podOf } from './testing/planted-tree.ts';
import { createSampling, tracked } from './testing/sampling.ts';

function looking(limit: number | undefined, more: Partial<AgentPod['pod']> = {}) {
  const tree = plant();
  const fake = podOf(1);
  tree.add(fake);
  const { sampler, step, warnings } = createSampling(tree);
  sampler.track([tracked(fake)]);
  step();
  const check = createQuotaCheck({
    sampler,
    log: { debug() {}, info() {}, error() {}, warn: (_, message) => warnings.push(message), child: () => never() },
  });
  let now = 0;
  let current: AgentPod = agentPod(fake, limit, more);
  return {
    check,
    warnings,
    enforce: (quotaMicros: number | undefined) =>
      tree.set(fake, 'main', { usageMicros: 0, ...(quotaMicros !== undefined && { quotaMicros }) }),
    resize: (to: number | undefined, change: Partial<AgentPod['pod']> = {}) => {
      current = agentPod(fake, to, change);
    },
    /** @returns the limit that is asked for, for each look, `everyMillis` after the one before. */
    looks: (times: number, everyMillis = 10_000): (number | undefined)[] =>
      Array.from({ length: times }, () => {
        now += everyMillis;
        return check.look([current], now).get(current.pod.uid);
      }),
  };
}

const nothing = (times: number): undefined[] => Array<undefined>(times).fill(undefined);

function agentPod(fake: FakePod, limit: number | undefined, more: Partial<AgentPod['pod']>): AgentPod {
  const pod = testPod('web', { request: 300, ...(limit !== undefined && { limit }) });
  const statuses = pod.statuses.map((status) => ({
    ...status,
    name: 'main',
    actual: { cpuRequest: 300, ...(limit !== undefined && { cpuLimit: limit }) },
  }));
  const marks = readMarks(pod.marks);
  return { pod: { ...pod, uid: fake.uid, statuses, ...more }, marks, tracked: tracked(fake) };
}

function never(): never {
  throw new Error('it has no child');
}

describe('a limit', () => {
  test('allocation bug 18: that is in force no more is told once and set anew once, not in a loop', () => {
    const { check, warnings, enforce, looks } = looking(500);
    enforce(50_000);
    expect(looks(2)).toEqual([undefined, undefined]);
    enforce(undefined);
    // From the second look on for half a minute, and never again.
    expect(looks(20)).toEqual([undefined, 510, 510, 510, ...Array<undefined>(16).fill(undefined)]);
    expect(warnings).toEqual(['A CPU limit is in force no more: something has reset its quota']);
    expect(check.lost).toBe(1);
  });

  test('allocation bug 18: in force again, it is lost no more; lost once more, it is only told of', () => {
    const { check, warnings, enforce, resize, looks } = looking(500);
    enforce(50_000);
    looks(1);
    enforce(undefined);
    expect(looks(2)).toEqual([undefined, 510]);
    resize(510);
    enforce(51_000);
    expect(looks(4)).toEqual(nothing(4));
    expect(check.lost).toBe(0);
    enforce(undefined);
    expect(looks(5)).toEqual(nothing(5));
    expect(check.lost).toBe(1);
    expect(warnings).toHaveLength(1);
  });

  test('allocation bug 18: set anew and then lowered again by the plan, it is not raised once more', () => {
    const { enforce, resize, looks } = looking(500);
    enforce(50_000);
    looks(1);
    enforce(undefined);
    expect(looks(6, 2000)).toEqual([...nothing(5), 510]);
    resize(510);
    enforce(51_000);
    expect(looks(1, 2000)).toEqual(nothing(1));
    resize(500);
    enforce(50_000);
    expect(looks(10, 2000)).toEqual(nothing(10));
  });

  test('allocation bug 2: that is lower now, and never got to the kernel, is told of once and counted (k/k#118371)', () => {
    const { check, warnings, enforce, resize, looks } = looking(500);
    enforce(50_000);
    looks(1);
    resize(1500);
    enforce(150_000);
    looks(1);
    resize(500);
    // Whether asking again helps is not known: the last time nothing came of it.
    expect(looks(5)).toEqual(nothing(5));
    expect(warnings).toEqual([
      'A CPU limit is not in force, though the kubelet says so: the kernel still has another quota',
    ]);
    expect(check.lost).toBe(1);
    enforce(50_000);
    looks(1);
    expect(check.lost).toBe(0);
  });

  test.each<[string, number | undefined, number | undefined]>([
    ['allocation bug 4: rounded by systemd is in force', 417, 42_000],
    ['none, and no quota', undefined, undefined],
    ['none, and a quota of somebody else’s', undefined, 10_000],
  ])('%s', (_, limit, quotaMicros) => {
    const { check, enforce, looks } = looking(limit);
    enforce(quotaMicros);
    expect(looks(5)).toEqual(nothing(5));
    expect(check.lost).toBe(0);
  });

  test('that never was in force is none of ours: a kubelet may set no quotas at all', () => {
    const { check, enforce, looks } = looking(500);
    enforce(undefined);
    expect(looks(5)).toEqual(nothing(5));
    expect(check.lost).toBe(0);
  });

  test('that is being changed is not looked at; one look that falls between the two is no loss', () => {
    const { enforce, resize, looks } = looking(500);
    enforce(50_000);
    looks(1);
    resize(500, { generation: 2, observedGeneration: 1 });
    enforce(80_000);
    expect(looks(5)).toEqual(nothing(5));
    resize(500);
    expect(looks(1)).toEqual(nothing(1));
    resize(800);
    expect(looks(3)).toEqual(nothing(3));
  });

  test('whose files cannot be read is not known', () => {
    const tree = plant({ hasCpuController: false });
    const fake = podOf(1);
    tree.add(fake);
    const { sampler, step } = createSampling(tree);
    sampler.track([tracked(fake)]);
    step();
    const check = createQuotaCheck({ sampler, log: silent });
    for (let now = 0; now < 50_000; now += 10_000) expect(check.look([agentPod(fake, 500, {})], now).size).toBe(0);
    expect(check.lost).toBe(0);
  });
});

const silent = { debug() {}, info() {}, warn() {}, error() {}, child: never };

describe('a plan', () => {
  /** What is written about a pod whose limit of 400m is in force no more. */
  function writes(marks: Readonly<Record<string, string>>, more: Partial<AgentPod['pod']> = {}) {
    const pod = { ...testPod('hog', { request: 300, limit: 400 }), marks, ...more };
    const spec = { podUID: pod.uid, desiredCPURequest: '300m', desiredCPULimit: '400m', limitPolicy: 'Keep' as const };
    const tick = planTick({
      node: { name: 'n', allocatable: 4000, capacity: 4200, conditions: [{ type: 'Ready', status: 'True', since: 0 }] },
      pods: [{ pod, marks: readMarks(pod.marks), tracked: { groupUid: pod.uid, label: 'shop/hog', containers: [] } }],
      stores: {
        allocation: () => ({ namespace: 'shop', spec, told: { rules: '', usage: undefined }, guidance: undefined }),
        namespaceManaged: () => 'true',
      },
      // It is not measured, so that nothing but its limit is planned about.
      sampler: { pod: () => undefined, node: () => ({ total: undefined, pods: undefined, system: undefined }) },
      metricOf: () => undefined,
      rules: defaultAllocationRules,
      tickMillis: 2000,
      samplingMillis: 1000,
      memory: new Map(),
      unenforced: new Map([[pod.uid, 410]]),
      time: { steady: T0, wall: T0, monotonic: 0 },
    });
    return tick.writes.map(({ why, desired }) => ({ why, ...desired }));
  }
  const ours = { 'mbcas.io/original-resources': '{"main":{"requests":{"cpu":"300m"}}}' };
  const users = { 'mbcas.io/original-resources': '{"main":{"requests":{"cpu":"300m"},"limits":{"cpu":"400m"}}}' };

  test('allocation bug 18: asks for a ceiling of ours a step higher, which makes the kubelet set it', () => {
    expect(writes(ours)).toEqual([
      { why: 'enforced', desiredCPURequest: '300m', desiredCPULimit: '410m', limitPolicy: 'Apply', urgent: true },
    ]);
  });

  test.each<[string, Readonly<Record<string, string>>]>([
    ['that its user set', users],
    ['of a pod that was never resized', {}],
  ])('allocation bug 18: leaves alone a limit %s', (_, marks) => {
    expect(writes(marks)).toEqual([]);
  });
});
