import { describe, expect, test } from 'vitest';
import { actuationOf } from './actuated.ts';
import type { AllocationPod } from './allocation-pod.ts';
import { testPod } from './testing/pods.ts';

function podOf(
  spec: { request: number; limit?: number },
  actual: { cpuRequest?: number; cpuLimit?: number } | undefined,
  change: Partial<AllocationPod> = {},
): AllocationPod {
  const pod = testPod('a', spec);
  return { ...pod, statuses: pod.statuses.map((status) => ({ ...status, actual })), ...change };
}

describe('in force', () => {
  test.each<[string, AllocationPod, string]>([
    ['the same', podOf({ request: 400, limit: 500 }, { cpuRequest: 400, cpuLimit: 500 }), 'in-force'],
    ['without limits', podOf({ request: 400 }, { cpuRequest: 400 }), 'in-force'],
    [
      'allocation bug 4: rounded up to 10m by systemd: 417m is 420m (k/k#129357)',
      podOf({ request: 400, limit: 417 }, { cpuRequest: 400, cpuLimit: 420 }),
      'in-force',
    ],
    ['a request read back from shares', podOf({ request: 401 }, { cpuRequest: 400 }), 'in-force'],
    [
      'allocation bug 2: still the old limit though done (k/k#118371)',
      podOf({ request: 400, limit: 500 }, { cpuRequest: 400, cpuLimit: 1500 }),
      'differs',
    ],
    [
      'allocation bug 18: reset behind our back (runc#1605, crun#1011, moby#51446)',
      podOf({ request: 400, limit: 500 }, { cpuRequest: 400 }),
      'differs',
    ],
    ['another request', podOf({ request: 400 }, { cpuRequest: 300 }), 'differs'],
    [
      'on its way',
      podOf({ request: 400 }, { cpuRequest: 300 }, { generation: 2, observedGeneration: 1 }),
      'on-its-way',
    ],
    [
      'allocation bug 8: a kubelet that does not say: nothing is assumed (k/k#112264)',
      podOf({ request: 400 }, undefined),
      'unknown',
    ],
  ])('%s', (_name, pod, wanted) => {
    expect(actuationOf(pod)).toBe(wanted);
  });
});
