import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { AllocationPod } from './allocation-pod.ts';
import { type ExclusionReason, exclusionOf, exclusionReasons, type PodHistory } from './eligibility.ts';
import { readMarks } from './marks.ts';
import type { AllocationRules } from './rules.ts';
import { type PodSketch, testPod, testRules } from './testing/pods.ts';

interface Given {
  readonly sketch?: Partial<PodSketch>;
  readonly pod?: Partial<AllocationPod>;
  readonly history?: PodHistory;
  readonly rules?: Partial<AllocationRules>;
}

function exclude({ sketch = {}, pod: change = {}, history = {}, rules = {} }: Given): ExclusionReason | undefined {
  const pod = testPod('a', { request: 400, ...sketch }, change);
  return exclusionOf(pod, readMarks(pod.marks), history, { ...testRules, ...rules });
}
const mark = (key: string, value: string): Given => ({ sketch: { marks: { [`mbcas.io/${key}`]: value } } });
const withContainer = (change: Partial<AllocationPod['containers'][number]>): Partial<AllocationPod> => ({
  containers: testPod('a', { request: 400 }).containers.map((each) => ({ ...each, ...change })),
});
const optIn = { managementMode: 'optIn' } as const;

describe('who takes part', () => {
  test.each<[string, Given, ExclusionReason | undefined]>([
    ['a running Burstable pod', {}, undefined],
    ['pending', { pod: { phase: 'Pending' } }, 'NotRunning'],
    ['finished', { pod: { phase: 'Succeeded' } }, 'NotRunning'],
    ['on its way out', { pod: { terminating: true } }, 'Terminating'],
    ['system namespace', { sketch: { namespace: 'kube-system' } }, 'Excluded'],
    ['opted out', mark('managed', 'false'), 'Excluded'],
    ['its namespace opted out', { history: { namespaceManaged: 'false' } }, 'Excluded'],
    [
      'the pod wins over its namespace',
      { ...mark('managed', 'true'), history: { namespaceManaged: 'false' } },
      undefined,
    ],
    ['opt-in: nobody said so', { rules: optIn }, 'NotOptedIn'],
    ['opt-in: the pod says so', { ...mark('managed', 'true'), rules: optIn }, undefined],
    ['opt-in: its namespace says so', { history: { namespaceManaged: 'true' }, rules: optIn }, undefined],
    ['static', { pod: { isStatic: true } }, 'StaticPod'],
    ['system-cluster-critical', { sketch: { priority: 2_000_000_000 } }, 'SystemCritical'],
    ['Windows', { pod: { os: 'windows' } }, 'Windows'],
    ['BestEffort', { pod: { qos: 'BestEffort' } }, 'BestEffort'],
    ['resources of the whole pod', { pod: { hasPodLevelResources: true } }, 'PodLevelResources'],
    ['Guaranteed', { pod: { qos: 'Guaranteed' } }, 'GuaranteedQoS'],
    ['Guaranteed and told to', { ...mark('skip-guaranteed', 'false'), pod: { qos: 'Guaranteed' } }, undefined],
    ['autoscaler: left alone', mark('hpa-mode', 'off'), 'HpaOff'],
    [
      'allocation bug 7: a resize of CPU restarts the container',
      { pod: withContainer({ cpuRestart: 'RestartContainer' }) },
      'RestartPolicy',
    ],
    ['no request', { pod: withContainer({ size: {} }) }, 'NoRequest'],
    ['a kubelet that cannot resize', { pod: { statuses: [] } }, 'ResizeUnsupported'],
    ['a VerticalPodAutoscaler', { history: { isVpaOwned: true } }, 'VpaOwned'],
    ['allocation bug 17: another writer', { history: { hasForeignWriter: true } }, 'ForeignWriter'],
    [
      'allocation bug 7: restarted by our resize (k/k#135640)',
      { history: { restartedOnResize: true } },
      'RestartedOnResize',
    ],
  ])('%s', (_name, given, reason) => {
    expect(exclude(given)).toBe(reason);
  });

  test.each<[string, number, PodHistory, ExclusionReason | undefined]>([
    ['allocation bug 15: whole CPUs, and nobody knows the CPU manager (k/k#127262)', 2000, {}, 'ExclusiveCpus'],
    [
      'allocation bug 15: whole CPUs under the static manager (k/k#140031)',
      2000,
      { hasStaticCpuManager: true },
      'ExclusiveCpus',
    ],
    ['whole CPUs without it', 2000, { hasStaticCpuManager: false }, undefined],
    ['parts of a CPU, and nobody knows the CPU manager', 2500, {}, undefined],
    [
      'allocation bug 15: parts of a CPU under the static manager',
      2500,
      { hasStaticCpuManager: true },
      'ExclusiveCpus',
    ],
  ])('Guaranteed: %s', (_name, request, history, reason) => {
    const sketch = { request, limit: request, marks: { 'mbcas.io/skip-guaranteed': 'false' } };
    expect(exclude({ sketch, pod: { qos: 'Guaranteed' }, history })).toBe(reason);
  });

  test('Guaranteed: allocation bug 15: one that a resize brought to whole CPUs has none of its own, and goes on taking part', () => {
    const text = '{"main":{"requests":{"cpu":"1500m"},"limits":{"cpu":"1500m"}}}';
    const marks = { 'mbcas.io/skip-guaranteed': 'false', 'mbcas.io/original-resources': text };
    expect(exclude({ sketch: { request: 2000, limit: 2000, marks }, pod: { qos: 'Guaranteed' } })).toBeUndefined();
  });
});

test('what keeps a pod out is explained in docs/skip-reasons.md', () => {
  const page = readFileSync(new URL('../../../docs/skip-reasons.md', import.meta.url), 'utf8');
  expect(exclusionReasons.filter((reason) => !page.includes(`\`${reason}\``))).toEqual([]);
});
