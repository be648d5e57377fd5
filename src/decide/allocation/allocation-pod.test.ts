import { describe, expect, test } from 'vitest';
import type { PodRecord } from '../../model/records.ts';
import type { ContainerSize, PodSizing } from '../../model/sizing-records.ts';
import {
  type AllocationPod,
  actualSizeOf,
  allocationPodOf,
  chargedCpu,
  requestWith,
  sizeOf,
} from './allocation-pod.ts';
import { testPod } from './testing/pods.ts';

/** A pod of several containers: what each has by spec, and by the kubelet. */
function podOf(
  rows: readonly { spec: ContainerSize; allocated?: ContainerSize; actual?: ContainerSize }[],
  change: Partial<AllocationPod> = {},
): AllocationPod {
  const base = testPod('a', { request: 1 });
  const [container] = base.containers;
  const [status] = base.statuses;
  if (container === undefined || status === undefined) throw new Error('a test pod has a container');
  return {
    ...base,
    containers: rows.map(({ spec }, index) => ({ ...container, name: `c${index}`, size: spec })),
    statuses: rows.map(({ allocated, actual }, index) => ({ ...status, name: `c${index}`, allocated, actual })),
    ...change,
  };
}

describe('what a pod has', () => {
  test('sums over containers', () => {
    const pod = podOf([{ spec: { cpuRequest: 100, cpuLimit: 200 } }, { spec: { cpuRequest: 50, cpuLimit: 80 } }]);
    expect(sizeOf(pod)).toEqual({ request: 150, limit: 280 });
  });

  test('allocation bug 6: one container without a limit, and the pod has no quota (k/k#126388)', () => {
    const pod = podOf([{ spec: { cpuRequest: 100, cpuLimit: 200 } }, { spec: { cpuRequest: 50 } }]);
    expect(sizeOf(pod)).toEqual({ request: 150, limit: undefined });
  });

  test('nothing set is nothing requested', () => {
    expect(sizeOf(podOf([{ spec: {} }]))).toEqual({ request: 0, limit: undefined });
  });

  test('what is in force; not known where one status is missing', () => {
    expect(actualSizeOf(podOf([{ spec: { cpuRequest: 100 }, actual: { cpuRequest: 80, cpuLimit: 90 } }]))).toEqual({
      request: 80,
      limit: 90,
    });
    expect(actualSizeOf(podOf([{ spec: { cpuRequest: 100 } }]))).toBeUndefined();
  });
});

describe('what it would request after a resize', () => {
  const { containers } = podOf([{ spec: { cpuRequest: 200 } }, { spec: { cpuRequest: 500 } }]);

  test('allocation bug 10: also where one container alone is changed: so much was infeasible for all of them together', () => {
    expect(requestWith(containers, [{ container: 'c0', to: { cpuRequest: 700 } }])).toBe(1200);
  });

  test.each([
    ['a limit alone says nothing of requests', [{ container: 'c0', to: { cpuLimit: 700 } }]],
    ['nor does nothing', undefined],
  ])('%s', (_name, changes) => {
    expect(requestWith(containers, changes)).toBeUndefined();
  });
});

describe('what Kubernetes charges', () => {
  test.each<[string, AllocationPod, number]>([
    [
      'a raise on its way: what is asked',
      podOf([{ spec: { cpuRequest: 900 }, allocated: { cpuRequest: 400 }, actual: { cpuRequest: 400 } }]),
      900,
    ],
    [
      'allocation bug 2: a decrease that is not in force yet: what is held (k/k#118371)',
      podOf([{ spec: { cpuRequest: 300 }, allocated: { cpuRequest: 400 }, actual: { cpuRequest: 500 } }]),
      500,
    ],
    [
      'each container by itself',
      podOf([
        { spec: { cpuRequest: 900 }, actual: { cpuRequest: 400 } },
        { spec: { cpuRequest: 10 }, actual: { cpuRequest: 60 } },
      ]),
      960,
    ],
    ['overhead too', podOf([{ spec: { cpuRequest: 100 } }], { overhead: 25 }), 125],
    [
      'an infeasible raise counts as not asked for',
      podOf([{ spec: { cpuRequest: 900 }, allocated: { cpuRequest: 400 } }], {
        resize: { pending: { reason: 'Infeasible', message: '', since: 0 }, inProgress: undefined },
      }),
      400,
    ],
    [
      'allocation bug 11: a deferred one counts as if granted',
      podOf([{ spec: { cpuRequest: 900 }, allocated: { cpuRequest: 400 } }], {
        resize: { pending: { reason: 'Deferred', message: '', since: 0 }, inProgress: undefined },
      }),
      900,
    ],
  ])('%s', (_name, pod, charged) => {
    expect(chargedCpu(pod)).toBe(charged);
  });
});

test('from the view: start, overhead and the rest', () => {
  const source = testPod('a', { request: 400 });
  const sizing: PodSizing = source;
  const pod = {
    uid: 'u',
    namespace: 'shop',
    name: 'a',
    phase: 'Running',
    ready: true,
    readyChangedAt: 7,
    createdAt: 5,
    deletingAt: 9,
    template: { requests: { cpuMillis: 425, memoryBytes: 0 } },
  } as PodRecord;
  expect(allocationPodOf({ pod, sizing })).toMatchObject({
    uid: 'u',
    overhead: 25,
    terminating: true,
    readyChangedAt: 7,
    startedAt: source.statuses[0]?.startedAt,
    qos: 'Burstable',
  });
  expect(allocationPodOf({ pod, sizing: { ...sizing, statuses: [] } }).startedAt).toBe(5);
});
