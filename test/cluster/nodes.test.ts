import { describe, expect, test } from 'vitest';
import type { Pod } from '../../src/api/core.ts';
import { resources } from '../../src/api/resources.ts';
import { type RealCluster, useRealCluster } from './real-cluster.ts';

const cluster = useRealCluster();

const container = {
  name: 'main',
  image: 'example.test/app:1',
  resources: { requests: { cpu: '100m', memory: '64Mi' } },
};

const isReady = (pod: Pod): boolean =>
  (pod.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True');

/** Waits until exactly `count` pods of the app are ready. */
function readyPods({ api, eventually }: RealCluster, namespace: string, app: string, count: number): Promise<Pod[]> {
  return eventually(async () => {
    const { items } = await api.list(resources.pods, { namespace, labelSelector: `app=${app}` });
    const ready = items.filter((pod) => isReady(pod) && pod.metadata?.deletionTimestamp === undefined);
    expect(ready).toHaveLength(count);
    return ready;
  });
}

async function deploy({ api }: RealCluster, namespace: string, app: string, replicas: number): Promise<void> {
  await api.create(
    resources.deployments,
    {
      metadata: { name: app },
      spec: {
        replicas,
        selector: { matchLabels: { app } },
        template: { metadata: { labels: { app } }, spec: { containers: [container] } },
      },
    },
    { namespace },
  );
}

describe('simulated nodes on the real control plane', () => {
  test('are three spot and three on-demand ones, ready and without taints', async () => {
    const { api, eventually } = cluster();
    await eventually(async () => {
      const { items } = await api.list(resources.nodes, { labelSelector: 'karpenter.sh/capacity-type' });
      const found = items.map((node) => [node.metadata?.name, node.spec?.taints ?? []]);
      expect(found).toEqual(
        ['on-demand-a', 'on-demand-b', 'on-demand-c', 'spot-a', 'spot-b', 'spot-c'].map((name) => [name, []]),
      );
    });
  });

  test('the real scheduler spreads pods over them, and they become ready', async () => {
    const { api, namespace, eventually } = cluster();
    const name = await namespace();
    await deploy(cluster(), name, 'web', 6);
    const pods = await readyPods(cluster(), name, 'web', 6);
    expect(new Set(pods.map((pod) => pod.spec?.nodeName)).size).toBeGreaterThanOrEqual(3);
    await eventually(async () => {
      const deployment = await api.get(resources.deployments, 'web', { namespace: name });
      expect(deployment.status).toMatchObject({ replicas: 6, readyReplicas: 6, availableReplicas: 6 });
    });
  });

  test('an evicted pod ends after its grace, and a new one takes its place', async () => {
    const { api, namespace, eventually } = cluster();
    const name = await namespace();
    await deploy(cluster(), name, 'web', 1);
    const [first] = await readyPods(cluster(), name, 'web', 1);
    const podName = first?.metadata?.name ?? '';
    await api.createSubresource(
      resources.pods,
      podName,
      'eviction',
      { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: podName } },
      { namespace: name },
    );
    await eventually(async () => {
      const { items } = await api.list(resources.pods, { namespace: name });
      expect(items.map((pod) => pod.metadata?.name)).not.toContain(podName);
    });
    await readyPods(cluster(), name, 'web', 1);
  });

  test('volume claims get a volume in the zone of their pod', async () => {
    const { api, namespace, eventually } = cluster();
    const name = await namespace();
    await api.create(
      resources.statefulSets,
      {
        metadata: { name: 'db' },
        spec: {
          replicas: 2,
          serviceName: 'db',
          selector: { matchLabels: { app: 'db' } },
          template: {
            metadata: { labels: { app: 'db' } },
            spec: { containers: [{ ...container, volumeMounts: [{ name: 'data', mountPath: '/data' }] }] },
          },
          volumeClaimTemplates: [
            {
              metadata: { name: 'data' },
              spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
            },
          ],
        },
      },
      { namespace: name },
    );
    const pods = await readyPods(cluster(), name, 'db', 2);
    for (const pod of pods) {
      // Told after the scheduler has seen that it is.
      const claim = await eventually(async () => {
        const found = await api.get(resources.persistentVolumeClaims, `data-${pod.metadata?.name}`, {
          namespace: name,
        });
        expect(found.status?.phase).toBe('Bound');
        return found;
      });
      const volume = await api.get(resources.persistentVolumes, claim.spec?.volumeName ?? '');
      const node = await api.get(resources.nodes, pod.spec?.nodeName ?? '');
      const zone = node.metadata?.labels?.['topology.kubernetes.io/zone'];
      expect(volume.spec?.nodeAffinity?.required?.nodeSelectorTerms).toEqual([
        { matchExpressions: [{ key: 'topology.kubernetes.io/zone', operator: 'In', values: [zone] }] },
      ]);
    }
  });

  test('a resize is carried out in place', async () => {
    const { api, namespace, eventually } = cluster();
    const name = await namespace();
    await deploy(cluster(), name, 'web', 1);
    const [pod] = await readyPods(cluster(), name, 'web', 1);
    const podName = pod?.metadata?.name ?? '';
    await api.patch(
      resources.pods,
      podName,
      {
        type: 'strategic',
        body: { spec: { containers: [{ name: 'main', resources: { requests: { cpu: '250m' } } }] } },
      },
      { namespace: name, subresource: 'resize' },
    );
    await eventually(async () => {
      const resized = await api.get(resources.pods, podName, { namespace: name });
      expect(resized.status?.containerStatuses?.[0]).toMatchObject({
        restartCount: 0,
        resources: { requests: { cpu: '250m', memory: '64Mi' } },
      });
    });
  });

  test('a container that runs out of memory is killed and started again', async () => {
    const { api, nodes, namespace, eventually } = cluster();
    const name = await namespace();
    await deploy(cluster(), name, 'web', 1);
    const [pod] = await readyPods(cluster(), name, 'web', 1);
    const podName = pod?.metadata?.name ?? '';
    expect(await nodes.oomKill(`${name}/${podName}`, 'main')).toBe(true);
    expect(await nodes.oomKill(`${name}/none`, 'main')).toBe(false);
    await eventually(async () => {
      const killed = await api.get(resources.pods, podName, { namespace: name });
      expect(killed.status?.containerStatuses?.[0]).toMatchObject({
        restartCount: 1,
        lastState: { terminated: { reason: 'OOMKilled', exitCode: 137 } },
      });
    });
  });
});
