/** What a pod's claims mean for where it can run. */
import type { KubeObject, PersistentVolume, PersistentVolumeClaim } from '../../api/core.ts';
import { type ResourceType, resources } from '../../api/resources.ts';
import type { Caches } from '../caches.ts';
import { namespaceOf } from '../objects.ts';
import type { PodInfo } from './pod-info.ts';

/** The fields that say when and where a volume is made. */
export interface StorageClass extends KubeObject {
  provisioner?: string;
  volumeBindingMode?: string;
  reclaimPolicy?: string;
}

export const storageClasses: ResourceType<StorageClass> = {
  group: 'storage.k8s.io',
  version: 'v1',
  plural: 'storageclasses',
  kind: 'StorageClass',
  namespaced: false,
};

/** The scheduler's order to the provisioner: make the volume where this node can reach it. */
export const SELECTED_NODE_ANNOTATION = 'volume.kubernetes.io/selected-node';
const DEFAULT_CLASS_ANNOTATION = 'storageclass.kubernetes.io/is-default-class';

export type PodVolumes =
  /** `unbound` claims wait for the pod's node; `volumes` are those of bound claims. */
  | {
      readonly ok: true;
      readonly volumes: readonly PersistentVolume[];
      readonly unbound: readonly PersistentVolumeClaim[];
    }
  | { readonly ok: false; readonly reason: string };

/** Looks up a pod's claims. The reasons are those of the VolumeBinding plugin. */
export function volumesOf(info: PodInfo, caches: Pick<Caches, 'of'>): PodVolumes {
  const claims = caches.of(resources.persistentVolumeClaims);
  const persistentVolumes = caches.of(resources.persistentVolumes);
  const volumes: PersistentVolume[] = [];
  const unbound: PersistentVolumeClaim[] = [];
  for (const name of info.claimNames) {
    const claim = claims.get(`${namespaceOf(info.pod)}/${name}`);
    if (claim === undefined) return { ok: false, reason: `persistentvolumeclaim "${name}" not found` };
    if (claim.metadata?.deletionTimestamp !== undefined) {
      return { ok: false, reason: `persistentvolumeclaim "${name}" is being deleted` };
    }
    if (claim.status?.phase === 'Lost') {
      return {
        ok: false,
        reason: `persistentvolumeclaim "${name}" bound to non-existent persistentvolume "${claim.spec?.volumeName ?? ''}"`,
      };
    }
    const volumeName = claim.spec?.volumeName;
    const volume = volumeName === undefined ? undefined : persistentVolumes.get(volumeName);
    if (volume !== undefined) volumes.push(volume);
    else if (isImmediate(claim, caches))
      return { ok: false, reason: 'pod has unbound immediate PersistentVolumeClaims' };
    else unbound.push(claim);
  }
  return { ok: true, volumes, unbound };
}

/** The class of a claim; without one named, the class annotated as default. */
export function classOf(claim: PersistentVolumeClaim, caches: Pick<Caches, 'of'>): StorageClass | undefined {
  const classes = caches.of(storageClasses);
  const name = claim.spec?.storageClassName;
  if (name !== undefined) return classes.get(name);
  for (const each of classes.all()) if (each.metadata?.annotations?.[DEFAULT_CLASS_ANNOTATION] === 'true') return each;
  return undefined;
}

/**
 * Whether the volume is made at once rather than where the first pod lands. A claim whose class does not exist is
 * provisioned on demand as well: manifests of real clusters name classes that nobody created here.
 */
export function isImmediate(claim: PersistentVolumeClaim, caches: Pick<Caches, 'of'>): boolean {
  const storageClass = classOf(claim, caches);
  return storageClass !== undefined && storageClass.volumeBindingMode !== 'WaitForFirstConsumer';
}
