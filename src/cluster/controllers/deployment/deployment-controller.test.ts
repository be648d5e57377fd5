import { describe, expect, test } from 'vitest';
import type { ReplicaSet } from '../../../api/core.ts';
import { resources } from '../../../api/resources.ts';
import { findCondition, nameOf } from '../../objects.ts';
import { isReady } from '../../pod-state.ts';
import {
  startVirtualCluster,
  testDeployment,
  testNodes,
  testTemplate,
  type VirtualCluster,
} from '../../testing/virtual-cluster.ts';

const IN_DEFAULT = { namespace: 'default' };

const replicaSets = ({ cluster }: VirtualCluster): ReplicaSet[] => [
  ...cluster.caches.of(resources.replicaSets).inNamespace('default'),
];

const create = ({ cluster }: VirtualCluster, deployment: ReturnType<typeof testDeployment>) =>
  cluster.api.create(resources.deployments, deployment, IN_DEFAULT);

const patch = ({ cluster }: VirtualCluster, name: string, spec: object) =>
  cluster.api.patch(resources.deployments, name, { type: 'merge', body: { spec } }, IN_DEFAULT);

const setImage = (at: VirtualCluster, name: string, image: string) =>
  patch(at, name, { template: testTemplate(name, { image }) });

const progress = (at: VirtualCluster, name: string) =>
  findCondition(at.deployment(name).status?.conditions, 'Progressing');

describe('a Deployment', () => {
  test('gets its pods, its revision and a complete status', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(3) });
    await create(at, testDeployment('web', { replicas: 3 }));
    await at.seconds(10);
    const { status, metadata } = at.deployment('web');
    expect(at.pods()).toHaveLength(3);
    expect(metadata?.annotations?.['deployment.kubernetes.io/revision']).toBe('1');
    expect(status).toMatchObject({
      observedGeneration: 1,
      replicas: 3,
      updatedReplicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
    });
    expect(status?.conditions?.map(({ type, status: value, reason }) => `${type}=${value} ${reason}`)).toEqual([
      'Available=True MinimumReplicasAvailable',
      'Progressing=True NewReplicaSetAvailable',
    ]);
    const [pod] = at.pods();
    const [set] = replicaSets(at);
    expect(pod?.metadata?.labels?.['pod-template-hash']).toBe(set?.metadata?.labels?.['pod-template-hash']);
    expect(nameOf(pod ?? {})).toMatch(new RegExp(`^${nameOf(set ?? {})}-[a-z0-9]{5}$`));
  });

  test('has no ReplicaSet in another namespace, whatever one there says', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(3) });
    const { api } = at.cluster;
    await create(at, testDeployment('web', { replicas: 2 }));
    await at.seconds(10);
    const [own] = replicaSets(at);
    await api.create(resources.namespaces, { metadata: { name: 'tenant' } });
    const { ownerReferences = [] } = own?.metadata ?? {};
    // The finalizer keeps the garbage collector from taking it away.
    const metadata = { name: 'forged', finalizers: ['tenant.example/stay'], ownerReferences };
    await api.create(resources.replicaSets, { ...own, metadata }, { namespace: 'tenant' });
    await patch(at, 'web', { replicas: 3 });
    await at.seconds(10);
    expect(at.deployment('web').status).toMatchObject({ observedGeneration: 2, replicas: 3, updatedReplicas: 3 });
    expect(await api.get(resources.replicaSets, 'forged', { namespace: 'tenant' })).toMatchObject({
      spec: { replicas: 2 },
    });
  });

  test('of 40 replicas rolls with a surge of 25 % and never leaves its bounds', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(6) });
    await create(at, testDeployment('web', { replicas: 40 }));
    await at.seconds(20);
    const seen: { total: number; ready: number }[] = [];
    at.cluster.caches.of(resources.pods).onChange(() => {
      const pods = at.pods();
      seen.push({ total: pods.length, ready: pods.filter(isReady).length });
    });
    seen.length = 0;
    await setImage(at, 'web', 'app:2');
    await at.seconds(120);
    expect(Math.max(...seen.map(({ total }) => total))).toBe(50);
    expect(Math.min(...seen.map(({ ready }) => ready))).toBeGreaterThanOrEqual(30);
    expect(at.pods().map((pod) => pod.spec?.containers[0]?.image)).toEqual(Array.from({ length: 40 }, () => 'app:2'));
    expect(progress(at, 'web')?.reason).toBe('NewReplicaSetAvailable');
    expect(at.deployment('web').metadata?.annotations?.['deployment.kubernetes.io/revision']).toBe('2');
  });

  test('with Recreate starts no new pod before the last old one is gone', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(2) });
    const annotations = { 'stowage.test/stop-after': '20s' };
    await create(at, testDeployment('web', { replicas: 3, strategy: { type: 'Recreate' }, annotations }));
    await at.seconds(10);
    await setImage(at, 'web', 'app:2');
    await at.seconds(15);
    expect(at.pods()).toEqual([]);
    await at.seconds(15);
    expect(at.pods().map((pod) => pod.spec?.containers[0]?.image)).toEqual(['app:2', 'app:2', 'app:2']);
  });

  test('that is paused takes no new template but follows its scale', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(2) });
    await create(at, testDeployment('web', { replicas: 2 }));
    await at.seconds(10);
    await patch(at, 'web', { paused: true, replicas: 4, template: testTemplate('web', { image: 'app:2' }) });
    await at.seconds(10);
    expect(at.pods().map((pod) => pod.spec?.containers[0]?.image)).toEqual(['app:1', 'app:1', 'app:1', 'app:1']);
    expect(progress(at, 'web')?.reason).toBe('DeploymentPaused');
    await patch(at, 'web', { paused: false });
    await at.seconds(60);
    expect(at.pods().every((pod) => pod.spec?.containers[0]?.image === 'app:2')).toBe(true);
  });

  test('rolled back takes its old ReplicaSet up again under a new revision', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(2) });
    await create(at, testDeployment('web', { replicas: 2 }));
    await at.seconds(10);
    const [first] = replicaSets(at);
    await setImage(at, 'web', 'app:2');
    await at.seconds(30);
    await setImage(at, 'web', 'app:1');
    await at.seconds(30);
    const active = replicaSets(at).filter((set) => (set.spec?.replicas ?? 0) > 0);
    expect(active.map(nameOf)).toEqual([nameOf(first ?? {})]);
    expect(active[0]?.metadata?.annotations?.['deployment.kubernetes.io/revision']).toBe('3');
    expect(replicaSets(at)).toHaveLength(2);
  });

  test('that gets nowhere says so when its deadline is over, and recovers', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(2) });
    await create(at, testDeployment('web', { replicas: 2, annotations: { 'stowage.test/ready-after': 'never' } }));
    await patch(at, 'web', { progressDeadlineSeconds: 60 });
    await at.seconds(58);
    expect(progress(at, 'web')?.status).toBe('True');
    await at.seconds(10);
    expect(progress(at, 'web')).toMatchObject({ status: 'False', reason: 'ProgressDeadlineExceeded' });
    await setImage(at, 'web', 'app:2');
    await at.seconds(30);
    await patch(at, 'web', { template: { metadata: { annotations: { 'stowage.test/ready-after': '1s' } } } });
    await at.seconds(60);
    expect(progress(at, 'web')).toMatchObject({ status: 'True', reason: 'NewReplicaSetAvailable' });
  });

  test('keeps no more old ReplicaSets than its history limit', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(2) });
    await create(at, testDeployment('web'));
    await patch(at, 'web', { revisionHistoryLimit: 2 });
    for (let version = 2; version <= 6; version++) {
      await setImage(at, 'web', `app:${version}`);
      await at.seconds(30);
    }
    expect(replicaSets(at)).toHaveLength(3);
  });

  test('scaled in the middle of a rollout shares the change among its sets', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(4) });
    await create(at, testDeployment('web', { replicas: 10 }));
    await at.seconds(10);
    await patch(at, 'web', {
      template: testTemplate('web', { image: 'app:2', annotations: { 'stowage.test/ready-after': 'never' } }),
    });
    await at.seconds(10);
    expect(
      replicaSets(at)
        .map((set) => set.spec?.replicas ?? 0)
        .sort((a, b) => a - b),
    ).toEqual([5, 8]);
    await patch(at, 'web', { replicas: 20 });
    await at.seconds(10);
    // 20 replicas and a surge of 5: 25 pods, shared 8 : 5.
    expect(
      replicaSets(at)
        .map((set) => set.spec?.replicas ?? 0)
        .sort((a, b) => a - b),
    ).toEqual([10, 15]);
  });

  test('waits minReadySeconds before it counts a pod as available', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(1) });
    await create(at, testDeployment('web', { replicas: 1 }));
    await patch(at, 'web', { minReadySeconds: 30 });
    await at.seconds(20);
    // None available is left out, as on the real server.
    expect(at.deployment('web').status).toMatchObject({ readyReplicas: 1 });
    expect(at.deployment('web').status).not.toHaveProperty('availableReplicas');
    await at.seconds(20);
    expect(at.deployment('web').status).toMatchObject({ readyReplicas: 1, availableReplicas: 1 });
  });

  test('replaces an evicted pod at once', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(2) });
    await create(at, testDeployment('web', { replicas: 2 }));
    await at.seconds(10);
    const name = nameOf(at.pods()[0] ?? {});
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: 'default' } };
    await at.cluster.api.createSubresource(resources.pods, name, 'eviction', eviction, IN_DEFAULT);
    await at.seconds(0.01);
    expect(at.pods()).toHaveLength(2);
    await at.seconds(10);
    expect(at.pods().filter(isReady)).toHaveLength(2);
    expect(at.pods().map(nameOf)).not.toContain(name);
  });

  test('in quiet writes nothing', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(2) });
    await create(at, testDeployment('web', { replicas: 5 }));
    await at.seconds(60);
    const revision = at.cluster.server.core.revision();
    await at.seconds(24 * 3600);
    expect(at.cluster.server.core.revision()).toBe(revision);
  });
});

test('ten ready pods with deletion costs -1..-10 scaled to four keep those with -1..-4', async () => {
  await using at = await startVirtualCluster({ nodes: testNodes(3) });
  await create(at, testDeployment('web', { replicas: 10 }));
  await at.seconds(10);
  for (const [index, pod] of at.pods().entries()) {
    const annotations = { 'controller.kubernetes.io/pod-deletion-cost': String(-(index + 1)) };
    await at.cluster.api.patch(
      resources.pods,
      nameOf(pod),
      { type: 'merge', body: { metadata: { annotations } } },
      IN_DEFAULT,
    );
  }
  const kept = at.pods().slice(0, 4).map(nameOf);
  await patch(at, 'web', { replicas: 4 });
  await at.seconds(10);
  expect(at.pods().map(nameOf)).toEqual(kept);
});
