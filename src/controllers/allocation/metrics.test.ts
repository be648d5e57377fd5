import { expect, test } from 'vitest';
import { createMetrics } from '../../lib/metrics.ts';
import { aSizedPod } from '../../model/testing/sizing-records.ts';
import type { AllocationRecord } from '../../observe/project-allocation.ts';
import { type AllocationMetricsOptions, reportAllocation } from './metrics.ts';

const owner = { namespace: 'shop', name: 'web', uid: 'uid-web' };
const phases = { web: 'Running', job: 'Succeeded', crash: 'Failed' } as const;

/** Pods of these names, each with an allocation that tells a use of 70m; that of `web` had a predecessor. */
function setUp({ isLeader = true } = {}) {
  const pods = Object.entries(phases).map(([name, phase]) => aSizedPod(owner, name, {}, { phase }));
  const recordOf = (podName: string, podUID: string): AllocationRecord =>
    ({ namespace: 'shop', name: podUID, podName, podUID, cpuUsage: '70m' }) as AllocationRecord;
  const records = [recordOf('web', 'earlier'), ...pods.map(({ name, uid }) => recordOf(name, uid))];
  const metrics = createMetrics();
  const options = {
    metrics,
    view: {
      node: () => undefined,
      pod(_: string, name: string) {
        const pod = pods.find((each) => each.name === name);
        return pod && { pod, sizing: pod.sizing };
      },
    },
    stores: {
      all: () => [...records, recordOf('gone', 'gone')],
      of: ({ uid }: { readonly uid: string }) => records.find(({ podUID }) => podUID === uid),
    },
    agents: { counts: () => ({ alive: 1, silent: 0, gone: 0 }) },
    isLeader: () => isLeader,
  } as unknown as AllocationMetricsOptions;
  reportAllocation(options);
  return async (name: string) => (await metrics.render()).split('\n').filter((line) => line.startsWith(`${name}{`));
}

test('what pods have and use is told of those that are there and run, once each', async () => {
  const series = setUp();
  expect(await series('mbcas_pod_cpu_usage_millicores')).toEqual([
    'mbcas_pod_cpu_usage_millicores{namespace="shop",pod="web"} 70',
  ]);
  expect(await series('mbcas_pod_cpu_allocation_millicores')).toEqual([
    expect.stringMatching(/^mbcas_pod_cpu_allocation_millicores\{namespace="shop",pod="web"\} [1-9]\d*$/),
  ]);
});

test('who does not lead tells none: each would be counted as often as there are replicas', async () => {
  const series = setUp({ isLeader: false });
  for (const name of ['mbcas_pod_cpu_usage_millicores', 'mbcas_pod_cpu_allocation_millicores', 'mbcas_agents'])
    expect(await series(name)).toEqual([]);
});
