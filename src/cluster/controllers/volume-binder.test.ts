import { describe, expect, test } from 'vitest';
import type { PersistentVolumeClaim } from '../../api/core.ts';
import { resources } from '../../api/resources.ts';
import { nameOf } from '../objects.ts';
import { storageClasses } from '../scheduler/volumes.ts';
import { startVirtualCluster, testNodes, type VirtualCluster } from '../testing/virtual-cluster.ts';

const IN_DEFAULT = { namespace: 'default' };

const claim = (storageClassName?: string): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data', namespace: 'default' },
  spec: {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '5Gi' } },
    ...(storageClassName === undefined ? {} : { storageClassName }),
  },
});
const create = ({ cluster }: VirtualCluster, object: PersistentVolumeClaim) =>
  cluster.api.create(resources.persistentVolumeClaims, object, IN_DEFAULT);
const createClass = ({ cluster }: VirtualCluster, name: string, volumeBindingMode: string, reclaimPolicy = 'Delete') =>
  cluster.api.create(storageClasses, {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name },
    provisioner: 'simulated.csi',
    volumeBindingMode,
    reclaimPolicy,
  });
const stored = ({ cluster }: VirtualCluster) => cluster.caches.of(resources.persistentVolumeClaims).get('default/data');
const volumes = ({ cluster }: VirtualCluster) => [...cluster.caches.of(resources.persistentVolumes).all()];
const runPod = ({ cluster }: VirtualCluster, nodeName?: string) =>
  cluster.api.create(
    resources.pods,
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a', namespace: 'default' },
      spec: {
        containers: [{ name: 'app', image: 'app:1' }],
        volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
        ...(nodeName === undefined ? {} : { nodeSelector: { 'kubernetes.io/hostname': nodeName } }),
      },
    },
    IN_DEFAULT,
  );

describe('a claim', () => {
  test('waits for its first pod and gets a volume in the zone of that pod', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(3) });
    await createClass(at, 'late', 'WaitForFirstConsumer');
    await create(at, claim('late'));
    await at.seconds(60);
    expect(stored(at)?.spec?.volumeName).toBeUndefined();
    await runPod(at, 'node-2');
    await at.seconds(20);
    const [volume] = volumes(at);
    expect(stored(at)).toMatchObject({
      spec: { volumeName: nameOf(volume ?? {}) },
      status: { phase: 'Bound', capacity: { storage: '5Gi' } },
    });
    expect(volume?.metadata?.labels).toEqual({ 'topology.kubernetes.io/zone': 'zone-b' });
    expect(volume?.spec).toMatchObject({
      claimRef: { name: 'data', namespace: 'default' },
      persistentVolumeReclaimPolicy: 'Delete',
      storageClassName: 'late',
    });
    expect(at.pods()[0]?.spec?.nodeName).toBe('node-2');
  });

  test('of an immediate class gets its volume at once, and the pod follows it', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(3) });
    await createClass(at, 'now', 'Immediate');
    await create(at, claim('now'));
    await at.seconds(1);
    await runPod(at);
    await at.seconds(1);
    expect(at.pods()[0]?.spec?.nodeName).toBeUndefined();
    await at.seconds(20);
    const zone = volumes(at)[0]?.metadata?.labels?.['topology.kubernetes.io/zone'];
    const node = at.cluster.caches.of(resources.nodes).get(at.pods()[0]?.spec?.nodeName ?? '');
    expect(zone).toBeDefined();
    expect(node?.metadata?.labels?.['topology.kubernetes.io/zone']).toBe(zone);
  });

  test.each([
    ['Delete', 0],
    ['Retain', 1],
  ])('that is deleted leaves, with policy %s, %i volumes', async (policy, left) => {
    await using at = await startVirtualCluster({ nodes: testNodes(1) });
    await createClass(at, 'now', 'Immediate', policy);
    await create(at, claim('now'));
    await at.seconds(10);
    expect(volumes(at)).toHaveLength(1);
    await at.cluster.api.delete(resources.persistentVolumeClaims, 'data', IN_DEFAULT);
    await at.seconds(10);
    expect(volumes(at)).toHaveLength(left);
    expect(volumes(at).map((volume) => volume.status?.phase)).toEqual(left === 0 ? [] : ['Released']);
  });

  test.each([
    ['Delete', 0],
    ['Retain', 1],
  ])(
    'made anew under the name of one that went gets a volume of its own; of the other, with policy %s, %i stay',
    async (policy, left) => {
      await using at = await startVirtualCluster({ nodes: testNodes(1) });
      await createClass(at, 'now', 'Immediate', policy);
      await create(at, claim('now'));
      await at.seconds(10);
      const [first] = volumes(at);
      // Nothing runs between: whoever looks at the name alone sees one claim all the time.
      await at.cluster.api.delete(resources.persistentVolumeClaims, 'data', IN_DEFAULT);
      await create(at, claim('now'));
      await at.seconds(10);
      const bound = stored(at)?.spec?.volumeName;
      expect(bound).toBeDefined();
      expect(bound).not.toBe(nameOf(first ?? {}));
      const others = volumes(at).filter((volume) => nameOf(volume) !== bound);
      expect(others.map((volume) => volume.status?.phase)).toEqual(left === 0 ? [] : ['Released']);
    },
  );

  test('that names the volume of an earlier claim of its name does not get it', async () => {
    await using at = await startVirtualCluster({ nodes: testNodes(1) });
    await createClass(at, 'now', 'Immediate', 'Retain');
    await create(at, claim('now'));
    await at.seconds(10);
    const [first] = volumes(at);
    await at.cluster.api.delete(resources.persistentVolumeClaims, 'data', IN_DEFAULT);
    const again = claim('now');
    await create(at, { ...again, spec: { ...again.spec, volumeName: nameOf(first ?? {}) } });
    await at.seconds(10);
    expect(stored(at)?.status?.phase).toBe('Pending');
  });
});
