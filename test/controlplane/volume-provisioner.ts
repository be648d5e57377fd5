/**
 * Stand-in of an external volume provisioner for a real control plane: makes a volume for each claim of the default storage
 * class, in the zone of the node the scheduler has chosen. Kubernetes' own controller binds the two.
 */
import type { KubeObject, Node, PersistentVolume, PersistentVolumeClaim } from '../../src/api/core.ts';
import type { KubeApi } from '../../src/api/kube-api.ts';
import { isAlreadyExists, isNotFound, unless } from '../../src/api/kube-error.ts';
import { type ResourceType, resources } from '../../src/api/resources.ts';
import { keyOf, nameOf, namespaceOf, uidOf } from '../../src/cluster/objects.ts';
import type { StandIn, StandInContext } from '../../src/cluster/stand-in.ts';
import { createWorkQueue, type HandlerResult } from '../../src/kube/queue.ts';

const PROVISIONER = 'simulated.stowage.test';
const ZONE_LABEL = 'topology.kubernetes.io/zone';
/** Set by the scheduler on claims that wait for their first pod. */
const SELECTED_NODE = 'volume.kubernetes.io/selected-node';
const WORKERS = 4;
const UNKNOWN_NODE_MILLIS = 1000;

interface StorageClass extends KubeObject {
  readonly provisioner: string;
  readonly reclaimPolicy: string;
  readonly volumeBindingMode: string;
}

const storageClasses: ResourceType<StorageClass> = {
  group: 'storage.k8s.io',
  version: 'v1',
  plural: 'storageclasses',
  kind: 'StorageClass',
  namespaced: false,
};

/** As in most clouds: made where the first pod goes, deleted with the claim. */
const DEFAULT_CLASS: StorageClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'zonal', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner: PROVISIONER,
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'WaitForFirstConsumer',
};

export async function createDefaultStorageClass(api: KubeApi): Promise<void> {
  await unless(isAlreadyExists, api.create(storageClasses, DEFAULT_CLASS));
}

/** The volume for a claim whose pod goes to `node`. Pure. */
export function volumeFor(claim: PersistentVolumeClaim, node: Node): PersistentVolume {
  const zone = node.metadata?.labels?.[ZONE_LABEL];
  const inZone = { matchExpressions: [{ key: ZONE_LABEL, operator: 'In', values: [zone ?? ''] }] };
  const { accessModes = [], resources: wanted, storageClassName, volumeMode } = claim.spec ?? {};
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name: `pvc-${uidOf(claim)}`,
      annotations: { 'pv.kubernetes.io/provisioned-by': PROVISIONER },
      ...(zone === undefined ? {} : { labels: { [ZONE_LABEL]: zone } }),
    },
    spec: {
      accessModes,
      capacity: { storage: wanted?.requests?.['storage'] ?? '1Gi' },
      persistentVolumeReclaimPolicy: 'Delete',
      ...(storageClassName === undefined ? {} : { storageClassName }),
      ...(volumeMode === undefined ? {} : { volumeMode }),
      claimRef: {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        namespace: namespaceOf(claim),
        name: nameOf(claim),
        uid: uidOf(claim),
      },
      // Not a CSI volume: nothing may wait for an attachment that no driver would make.
      hostPath: { path: `/volumes/${uidOf(claim)}` },
      ...(zone === undefined ? {} : { nodeAffinity: { required: { nodeSelectorTerms: [inZone] } } }),
    },
  };
}

export function createVolumeProvisioner({ api, caches, clock, random, log }: StandInContext): StandIn {
  const claims = caches.of(resources.persistentVolumeClaims);
  const volumes = caches.of(resources.persistentVolumes);
  const nodes = caches.of(resources.nodes);
  const queue = createWorkQueue({ clock, random, log, name: 'volume-provisioner' });

  claims.onChange((_, after) => {
    if (after !== undefined) queue.add(`claim ${keyOf(after)}`);
  });
  volumes.onChange((_, after) => {
    if (after !== undefined) queue.add(`volume ${nameOf(after)}`);
  });

  const provision = async (claim: PersistentVolumeClaim | undefined): Promise<HandlerResult> => {
    if (claim === undefined || claim.spec?.volumeName !== undefined) return undefined;
    if (claim.spec?.storageClassName !== DEFAULT_CLASS.metadata?.name) return undefined;
    const selected = claim.metadata?.annotations?.[SELECTED_NODE];
    if (selected === undefined) return undefined;
    const node = nodes.get(selected);
    // Claims and nodes come by watches of their own: the scheduler may know a new node before it is known here.
    if (node === undefined) return { requeueAfterMillis: UNKNOWN_NODE_MILLIS };
    await unless(isAlreadyExists, api.create(resources.persistentVolumes, volumeFor(claim, node)));
    return undefined;
  };

  /** The claim is gone. Deleting what an external provisioner has made is left to that. */
  const reclaim = async (volume: PersistentVolume | undefined): Promise<void> => {
    if (volume?.status?.phase !== 'Released' || volume.metadata?.deletionTimestamp !== undefined) return;
    if (volume.metadata?.annotations?.['pv.kubernetes.io/provisioned-by'] !== PROVISIONER) return;
    await unless(isNotFound, api.delete(resources.persistentVolumes, nameOf(volume), { uid: uidOf(volume) }));
  };

  return {
    name: 'volume-provisioner',
    async run(signal) {
      await queue.run(
        WORKERS,
        async (key) => {
          const [kind, name = ''] = key.split(' ');
          return kind === 'claim' ? provision(claims.get(name)) : reclaim(volumes.get(name));
        },
        signal,
      );
    },
  };
}
