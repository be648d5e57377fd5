import { describe, expect, test } from 'vitest';
import { resources } from '../api/resources.ts';
import type { FaultEffect } from './faults/fault.ts';
import { keyOf } from './objects.ts';
import { isReady } from './pod-state.ts';
import { startVirtualCluster, testDeployment, testStatefulSet } from './testing/virtual-cluster.ts';

const IN_DEFAULT = { namespace: 'default' };
const WRITES = ['create', 'update', 'patch', 'delete'];
const GIB = 1024 ** 3;
const spot = {
  name: 'spot',
  class: 'spot' as const,
  zones: ['eu-1a', 'eu-1b'],
  instanceType: 'm5.xlarge',
  cpuMillis: 4000,
  memoryBytes: 16 * GIB,
  pricePerHour: 0.1,
  minNodes: 2,
  interruptionsPerHour: 2,
};

describe('the components of the embedded cluster reach their goal in spite of', () => {
  test.each<[string, FaultEffect, readonly string[]]>([
    ['errors of the server', { kind: 'status', code: 500 }, WRITES],
    ['throttling', { kind: 'status', code: 429, retryAfterSeconds: 1 }, WRITES],
    ['dropped connections', { kind: 'drop' }, WRITES],
    ['writes whose answer is lost', { kind: 'drop-after' }, WRITES],
    ['watches that break', { kind: 'cut-watch', afterEvents: 7 }, ['watch']],
    ['watches that expire', { kind: 'expire-watch', afterEvents: 11 }, ['watch']],
    ['events that come twice', { kind: 'duplicate-events' }, ['watch']],
    ['events that come late', { kind: 'delay-events', millis: 700 }, ['watch']],
  ])('%s', async (_, effect, verbs) => {
    await using at = await startVirtualCluster({ pools: [spot], seed: 7 });
    at.cluster.server.faults.add({ effect, verbs, probability: 0.2 });
    const direct = at.cluster.api;
    const persist = async (action: () => Promise<unknown>): Promise<void> => {
      for (let attempt = 0; attempt < 50; attempt++) {
        try {
          await action();
          return;
        } catch {
          await at.seconds(1);
        }
      }
    };
    await persist(() => direct.create(resources.deployments, testDeployment('web', { replicas: 10 }), IN_DEFAULT));
    await persist(() => direct.create(resources.statefulSets, testStatefulSet('db', { replicas: 3 }), IN_DEFAULT));
    await at.seconds(1800);
    await persist(() =>
      direct.patch(resources.deployments, 'web', { type: 'merge', body: { spec: { replicas: 4 } } }, IN_DEFAULT),
    );
    await at.seconds(600);
    at.cluster.server.faults.clear();
    await at.seconds(1200);

    const ready = at.pods().filter(isReady);
    expect(at.pods()).toHaveLength(7);
    expect(ready.length).toBeGreaterThanOrEqual(5);
    const { items } = await direct.list(resources.pods, IN_DEFAULT);
    expect(new Set(at.pods().map(keyOf))).toEqual(
      new Set(items.filter((pod) => pod.metadata?.deletionTimestamp === undefined).map(keyOf)),
    );
  });
});
