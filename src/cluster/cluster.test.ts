import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readManifests } from '../api/manifests.ts';
import { resources } from '../api/resources.ts';
import { demoPools } from './demo/demo-pools.ts';
import { keyOf } from './objects.ts';
import { isReady } from './pod-state.ts';
import { startVirtualCluster, testDeployment, type VirtualCluster } from './testing/virtual-cluster.ts';

const IN_DEFAULT = { namespace: 'default' };
const DEMO = fileURLToPath(new URL('demo', import.meta.url));

/** Everything that happens to pods and nodes, as text. */
function record({ cluster, clock }: VirtualCluster): string[] {
  const log: string[] = [];
  const note = (kind: string, what: string, detail: string): void => {
    log.push(`${clock.now()} ${kind} ${what} ${detail}`);
  };
  cluster.caches.of(resources.pods).onChange((before, after) => {
    const pod = after ?? before ?? {};
    note(
      'pod',
      keyOf(pod),
      after === undefined
        ? 'gone'
        : `${after.metadata?.uid} ${after.spec?.nodeName} ${after.status?.phase} ${isReady(after)}`,
    );
  });
  cluster.caches.of(resources.nodes).onChange((before, after) => {
    note('node', keyOf(after ?? before ?? {}), after === undefined ? 'gone' : `${after.metadata?.resourceVersion}`);
  });
  return log;
}

async function busyHours(seed: number, hours: number): Promise<string[]> {
  const pools = demoPools.map((pool) => ({ ...pool, interruptionsPerHour: pool.class === 'spot' ? 0.5 : 0 }));
  await using at = await startVirtualCluster({ seed, pools });
  const log = record(at);
  const spec = { nodeSelector: { 'karpenter.sh/capacity-type': 'spot' } };
  await at.cluster.api.create(
    resources.deployments,
    testDeployment('web', { replicas: 12, cpu: '800m', spec }),
    IN_DEFAULT,
  );
  await at.cluster.api.create(resources.deployments, testDeployment('api', { replicas: 6 }), IN_DEFAULT);
  await at.seconds(1800);
  await at.cluster.api.patch(
    resources.deployments,
    'api',
    { type: 'merge', body: { spec: { template: { metadata: { annotations: { roll: '1' } } } } } },
    IN_DEFAULT,
  );
  await at.seconds(hours * 3600 - 1800);
  return log;
}

describe('the embedded cluster', () => {
  test('for any seed does the same again, to the millisecond and the uid', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 2 ** 31 }), async (seed) => {
        const first = await busyHours(seed, 4);
        expect(first.length).toBeGreaterThan(100);
        expect(await busyHours(seed, 4)).toEqual(first);
      }),
      { numRuns: 5 },
    );
  });

  test('does other things for another seed', async () => {
    expect(await busyHours(1, 2)).not.toEqual(await busyHours(2, 2));
  });

  test('leaves nothing running when it is stopped', async () => {
    const at = await startVirtualCluster({ pools: demoPools });
    await at.cluster.api.create(resources.deployments, testDeployment('web', { replicas: 5 }), IN_DEFAULT);
    await at.seconds(100);
    await at.cluster.stop();
    expect(at.clock.pendingTimers()).toBe(0);
  });

  test('runs the workloads of the demo', async () => {
    const { objects, problems } = await readManifests([DEMO]);
    expect(problems).toEqual([]);
    await using at = await startVirtualCluster({
      pools: demoPools.map((pool) => ({ ...pool, interruptionsPerHour: 0 })),
    });
    expect(await at.cluster.apply(objects)).toEqual({ applied: objects.length, skipped: [], problems: [] });
    await at.seconds(600);
    const { caches } = at.cluster;
    for (const deployment of caches.of(resources.deployments).all()) {
      expect([keyOf(deployment), deployment.status?.readyReplicas]).toEqual([
        keyOf(deployment),
        deployment.spec?.replicas,
      ]);
    }
    for (const set of caches.of(resources.statefulSets).all())
      expect(set.status?.readyReplicas).toBe(set.spec?.replicas);
    for (const set of caches.of(resources.daemonSets).all())
      expect(set.status?.numberReady).toBe(caches.of(resources.nodes).size);
    for (const budget of caches.of(resources.podDisruptionBudgets).all())
      expect(budget.status?.disruptionsAllowed).toBeGreaterThan(0);
    const managed = [...caches.of(resources.deployments).all()].filter(
      ({ metadata }) => metadata?.labels?.['spotalis.io/enabled'] === 'true',
    );
    expect(managed.length).toBeGreaterThanOrEqual(8);
  });

  test('applying the same objects again changes nothing', async () => {
    const { objects } = await readManifests([DEMO]);
    await using at = await startVirtualCluster({ pools: demoPools });
    await at.cluster.apply(objects);
    await at.seconds(600);
    const deployments = () =>
      [...at.cluster.caches.of(resources.deployments).all()].map(({ metadata }) => [
        metadata?.name,
        metadata?.generation,
      ]);
    const before = deployments();
    const pods = at.pods('shop').map(({ metadata }) => metadata?.uid);
    expect((await at.cluster.apply(objects)).problems).toEqual([]);
    await at.seconds(5);
    expect(deployments()).toEqual(before);
    expect(at.pods('shop').map(({ metadata }) => metadata?.uid)).toEqual(pods);
  });

  test('says which objects it cannot take, and takes the others', async () => {
    await using at = await startVirtualCluster();
    const owned = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'p',
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'u', controller: true }],
      },
    };
    const result = await at.cluster.apply([
      { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' } },
      owned,
      { apiVersion: 'v1', kind: 'Event', metadata: { name: 'e' } },
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', uid: 'old', resourceVersion: '7' } },
    ]);
    expect(result).toEqual({
      applied: 1,
      skipped: ['Pod p', 'Event e'],
      problems: ['Widget w: example.com/v1 Widget is not served here.'],
    });
  });
});
