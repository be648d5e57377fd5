import { describe, expect, test } from 'vitest';
import type { SizeKey } from '../../model/pod-size.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import { aDeployment, aReplicaSet } from '../../model/testing/records.ts';
import { aContainer, aSizedPod, smallSize } from '../../model/testing/sizing-records.ts';
import { driftedPods, driftOf, firstToChange, type ManagedKeys, managedKeys, runningPods } from './pod-drift.ts';

const owner = aReplicaSet(aDeployment());
const sized = (name: string, cpuRequest: number, changes: Parameters<typeof aSizedPod>[3] = {}): SizedPod => {
  const containers = [aContainer({ size: { ...smallSize, cpuRequest } })];
  const pod = aSizedPod(owner, name, { containers }, changes);
  return { pod, sizing: pod.sizing };
};
const keys = (...own: SizeKey[]): ManagedKeys => new Map([['app', new Set(own)]]);
const wanted = [aContainer({ size: { ...smallSize, cpuRequest: 100, memoryRequest: 1 } })];

test('a ready pod is changed before one that is not, and the newest of either first', () => {
  const pods = [
    sized('old', 1, { ready: true, createdAt: 1 }),
    sized('unready', 1, { ready: false, createdAt: 9 }),
    sized('new', 1, { ready: true, createdAt: 5 }),
    sized('twin', 1, { ready: true, createdAt: 5 }),
    sized('older', 1, { ready: false, createdAt: 2 }),
  ];
  const order = firstToChange(pods, (pod) => pod).map(({ pod }) => pod.name);
  expect(order).toEqual(['new', 'twin', 'old', 'unready', 'older']);
});

describe('pods that are not as they should be', () => {
  test('only what is managed is changed', () => {
    expect(driftOf(sized('a', 200), wanted, keys('cpuRequest'))).toEqual([
      { container: 'app', to: { cpuRequest: 100 } },
    ]);
    expect(driftOf(sized('a', 200), wanted, new Map())).toEqual([]);
    expect(driftOf(sized('a', 100), wanted, keys('cpuRequest'))).toEqual([]);
  });

  test('containers that are not there are no matter', () => {
    expect(driftOf(sized('a', 200), [aContainer({ name: 'log' })], keys('cpuRequest'))).toEqual([]);
  });

  test('pods that end or wait get their size otherwise', () => {
    const pods = [
      sized('runs', 200),
      sized('ends', 200, { deletingAt: 1 }),
      sized('waits', 200, { phase: 'Pending' }),
      sized('right', 100),
    ];
    expect(runningPods(pods).map(({ pod }) => pod.name)).toEqual(['runs', 'right']);
    expect(driftedPods(pods, wanted, keys('cpuRequest')).map(({ pod }) => pod.pod.name)).toEqual(['runs']);
  });

  test('what several changes manage adds up', () => {
    const more = managedKeys([{ container: 'app', to: { memoryRequest: 1 } }], keys('cpuRequest'));
    expect([...(more.get('app') ?? [])].toSorted()).toEqual(['cpuRequest', 'memoryRequest']);
    expect([...managedKeys([{ container: 'log', to: {} }]).keys()]).toEqual(['log']);
  });
});
