import { expect, test } from 'vitest';
import { aDeployment, aReplicaSet } from '../../model/testing/records.ts';
import { aContainer, aContainerStatus, aSizedPod } from '../../model/testing/sizing-records.ts';
import { heldOfQuota, sharersOfQuota } from './held-of-quota.ts';

const replicaSet = aReplicaSet(aDeployment());
const app = aContainer({ size: { cpuRequest: 100, memoryRequest: 64 } });
const proxy = aContainer({ name: 'proxy', size: { cpuRequest: 50, memoryRequest: 32 } });

test('what their containers ask for, have been allowed or have, those left out that are no part of the workload', () => {
  const small = aSizedPod(replicaSet, 'small', { containers: [app, proxy], statuses: [] });
  const statuses = [aContainerStatus(app, { allocated: { cpuRequest: 300, memoryRequest: 64 } })];
  const shrinking = aSizedPod(replicaSet, 'shrinking', { containers: [app], statuses });
  const ended = aSizedPod(replicaSet, 'ended', { containers: [app] }, { phase: 'Succeeded' });
  const pods = [small, shrinking, ended].map((pod) => ({ pod, sizing: pod.sizing }));
  expect(heldOfQuota(pods, [app])).toEqual({ cpuMillis: 400, memoryBytes: 128 });
  expect(heldOfQuota(pods, [app, proxy])).toEqual({ cpuMillis: 450, memoryBytes: 160 });
  expect(heldOfQuota([], [app])).toEqual({ cpuMillis: 0, memoryBytes: 0 });
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
