import { expect, test } from 'vitest';
import type { AllocationClamp } from '../../api/pod-allocation.ts';
import { aSizedPod, aSizedWorkload } from '../../model/testing/sizing-records.ts';
import type { AllocationRecord } from '../../observe/project-allocation.ts';
import { createAllocationExplainer } from './explain.ts';

const workload = aSizedWorkload();
const ref = { kind: workload.kind, namespace: workload.namespace, name: workload.name };
const pod = aSizedPod({ namespace: 'shop', name: 'web-rev1', uid: 'uid-web-rev1' }, 'web-1');

/** What is told of an allocation with these clamps of its agent, and this sentence of the operator. */
function clampsWith(clamps: readonly AllocationClamp[], constrained: string): readonly string[] {
  const record: AllocationRecord = {
    namespace: 'shop',
    name: pod.uid,
    uid: 'uid-allocation',
    generation: 1,
    renewed: undefined,
    version: 1,
    cpuUsage: undefined,
    podName: pod.name,
    podUID: pod.uid,
    nodeName: undefined,
    phase: undefined,
    spec: {
      namespace: 'shop',
      podName: pod.name,
      desiredCPURequest: '300m',
      desiredCPULimit: '600m',
      decision: { clamps },
    },
    status: {
      conditions: [
        {
          type: 'Constrained',
          status: constrained === '' ? 'False' : 'True',
          reason: 'Any',
          message: constrained === '' ? 'No rule moved a bound or the share' : constrained,
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
    },
  };
  const explain = createAllocationExplainer(
    { workload: () => workload, podsOf: () => [{ pod, sizing: pod.sizing }] },
    { of: () => record },
    { stateOf: () => 'alive' },
  );
  return explain(ref)[0]?.clamps ?? [];
}

const agents = { reason: 'SteadySum', message: 'SteadySum: capacity 1710m -> 900m' };

test.each<[string, readonly AllocationClamp[], string, readonly string[]]>([
  ['nothing moved anything', [], '', []],
  ['the agent’s, with the figures of now', [agents], 'SteadySum: capacity 1710m -> 800m', [agents.message]],
  [
    'the operator’s on top',
    [agents],
    'SteadySum: capacity 1710m -> 800m; LimitRange: max 800m -> 500m',
    [agents.message, 'LimitRange: max 800m -> 500m'],
  ],
  [
    'another rule of the operator’s whose name begins alike',
    [{ reason: 'LimitRange', message: 'LimitRange: max 800m -> 500m' }],
    'LimitRange: max 800m -> 500m; LimitRangeConflict: min 200m -> 400m',
    ['LimitRange: max 800m -> 500m', 'LimitRangeConflict: min 200m -> 400m'],
  ],
  ['the operator’s alone', [], 'StepLimit: max 1500m -> 1000m', ['StepLimit: max 1500m -> 1000m']],
])('rules that moved something: %s', (_name, clamps, constrained, told) => {
  expect(clampsWith(clamps, constrained)).toEqual(told);
});
