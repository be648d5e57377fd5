import { describe, expect, test } from 'vitest';
import type { PodRecord } from '../../model/records.ts';
import { freshState, noReplicas } from '../../model/replica-sizes.ts';
import { noUse } from '../../model/size-bounds.ts';
import type { ContainerSize, PodSizing } from '../../model/sizing-records.ts';
import { aDeployment, aReplicaSet, NOON } from '../../model/testing/records.ts';
import { aContainer, aContainerStatus, aSizedPod, aSizedWorkload } from '../../model/testing/sizing-records.ts';
import { heldOfQuota, podYetToTake, type SizesPromised, sharersOfQuota, yetToTake } from './held-of-quota.ts';

const replicaSet = aReplicaSet(aDeployment());
const app = aContainer({ size: { cpuRequest: 100, memoryRequest: 64 } });
const proxy = aContainer({ name: 'proxy', size: { cpuRequest: 50, memoryRequest: 32 } });

test('what their containers ask for, have been allowed or have, those left out that are no part of the workload', () => {
  const small = aSizedPod(replicaSet, 'small', { containers: [app, proxy], statuses: [] });
  const statuses = [aContainerStatus(app, { allocated: { cpuRequest: 300, memoryRequest: 64 } })];
  const shrinking = aSizedPod(replicaSet, 'shrinking', { containers: [app], statuses });
  const ended = aSizedPod(replicaSet, 'ended', { containers: [app] }, { phase: 'Succeeded' });
  const pods = [small, shrinking, ended].map((pod) => ({ pod, sizing: pod.sizing }));
  expect(heldOfQuota(pods, [app])).toEqual({ ...noUse, cpuRequest: 400, memoryRequest: 128 });
  expect(heldOfQuota(pods, [app, proxy])).toEqual({ ...noUse, cpuRequest: 450, memoryRequest: 160 });
  expect(heldOfQuota([], [app])).toEqual(noUse);
});

test('as many share what quotas leave as have the size of all, run or are yet to: a pod on its way out counts for nobody', () => {
  const podOf = (name: string, changes: object = {}) => {
    const pod = aSizedPod(replicaSet, name, { containers: [app] }, changes);
    return { pod, sizing: pod.sizing };
  };
  const [a, b] = [podOf('a'), podOf('b')];
  const gone = [podOf('going', { deletingAt: 1 }), podOf('ended', { phase: 'Failed' })];
  expect(sharersOfQuota(3, [a, b], [a, b])).toBe(3);
  expect(sharersOfQuota(1, [a, b], [a, b])).toBe(2);
  expect(sharersOfQuota(2, [a, b, ...gone], [b])).toBe(1);
  expect(sharersOfQuota(2, [a, b, ...gone], [])).toBe(0);
  expect(sharersOfQuota(0, [], [])).toBe(0);
});

test('limits are held as requests are, but for what the kubelet has only allowed', () => {
  const limited = aContainer({ size: { cpuRequest: 100, cpuLimit: 200 } });
  const statuses = [aContainerStatus(limited, { actual: { cpuRequest: 100, cpuLimit: 500 } })];
  const pod = aSizedPod(replicaSet, 'shrinking', { containers: [limited], statuses });
  expect(heldOfQuota([{ pod, sizing: pod.sizing }], [app])).toEqual({ ...noUse, cpuRequest: 100, cpuLimit: 500 });
});

describe('what pods are yet to take', () => {
  const of = (size: ContainerSize) => [aContainer({ size })];
  const sizes = of({ cpuRequest: 400, cpuLimit: 800, memoryRequest: 64 });
  const has = { cpuRequest: 100, cpuLimit: 200, memoryRequest: 64 };
  const workload = aSizedWorkload({ kind: 'StatefulSet', name: 'web', replicas: 2 });
  const promised: SizesPromised = { workload, sizes, states: noReplicas, isAllocated: () => false, now: NOON };
  const podOf = (
    name: string,
    size: ContainerSize,
    changes: Partial<PodRecord> = {},
    sizing: Partial<PodSizing> = {},
  ) => {
    const pod = aSizedPod(replicaSet, name, { containers: of(size), ...sizing }, changes);
    return { pod, sizing: pod.sizing };
  };
  const [small, full] = [podOf('web-0', has), podOf('web-1', sizes[0]?.size ?? {})];

  test('is the difference to what they are to have, of those that have it not yet', () => {
    expect(yetToTake(promised, [small, full]).growth).toEqual({ ...noUse, cpuRequest: 300, cpuLimit: 600 });
    expect(yetToTake(promised, [full, full]).growth).toEqual(noUse);
    const above = podOf('web-1', { cpuRequest: 900, memoryRequest: 128 });
    expect(yetToTake(promised, [full, above]).growth).toEqual({ ...noUse, cpuLimit: 800 });
  });

  test('is for who has a size of its own the difference to that', () => {
    const own = { ...promised, states: new Map([['0', freshState(of({ cpuRequest: 150 }))]]) };
    expect(yetToTake(own, [small, full]).growth).toEqual({ ...noUse, cpuRequest: 50 });
  });

  test('is all of it for those that are missing; their predecessors give back what they hold', () => {
    const each = { ...noUse, ...sizes[0]?.size };
    expect(yetToTake(promised, [full])).toMatchObject({ growth: noUse, awaited: { count: 1, each, returning: noUse } });
    const ending = podOf('web-0', has, { deletingAt: NOON });
    expect(yetToTake(promised, [full, ending])).toMatchObject({
      growth: noUse,
      awaited: { count: 1, each, returning: { ...noUse, ...has } },
    });
    expect(podYetToTake(promised, ending)).toEqual(noUse);
    expect(yetToTake(promised, [full, small]).awaited).toBeUndefined();
  });

  test('is for those that are missing what their own replica has', () => {
    const own = { ...promised, states: new Map([['0', freshState(of({ cpuRequest: 900 }))]]) };
    expect(yetToTake(own, [full]).awaited?.each).toMatchObject({ cpuRequest: 900, cpuLimit: 800 });
    expect(yetToTake(own, [small]).awaited?.each).toMatchObject({ cpuRequest: 400 });
  });

  test('is no CPU where that is shared out among pods, and nothing of what nobody here has a say in', () => {
    const memory = of({ ...sizes[0]?.size, memoryRequest: 100 });
    const allocated = { ...promised, sizes: memory, isAllocated: () => true };
    const proxied = podOf('web-0', has, {}, { containers: [...of(has), proxy] });
    expect(yetToTake(allocated, [proxied, full]).growth).toEqual({ ...noUse, memoryRequest: 72 });
  });

  test('tells quotas apart by a pod that is there', () => {
    expect(yetToTake(promised, [small, full]).like).toBe(small.sizing);
    expect(yetToTake(promised, []).like).toBeUndefined();
  });
});
