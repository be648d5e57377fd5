/** Stand-in of the volume provisioner and binder: gives every claim a volume in the zone of its first pod. */
import type { Node, PersistentVolume, PersistentVolumeClaim } from '../../api/core.ts';
import { isAlreadyExists, isNotFound, unless } from '../../api/kube-error.ts';
import { resources } from '../../api/resources.ts';
import { createWorkQueue, type HandlerResult } from '../../kube/queue.ts';
import { patchesOf } from '../object-patches.ts';
import { keyOf, nameOf, namespaceOf, uidOf } from '../objects.ts';
import { classOf, isImmediate, SELECTED_NODE_ANNOTATION } from '../scheduler/volumes.ts';
import type { StandIn, StandInContext } from '../stand-in.ts';

/** What a storage class and its cloud would decide. */
export interface VolumeBinderOptions {
  /** Time the cloud takes to make a volume. Default 3 s. */
  readonly provisionMillis?: number;
}

export const ZONE_LABEL = 'topology.kubernetes.io/zone';

/**
 * A claim of a class that waits for its first consumer gets its volume once the scheduler has named a node, any other
 * at once, on a node drawn by lot. A volume is tied to the zone of that node, never to the node itself: as those of the
 * clouds are.
 */
export function createVolumeBinder(context: StandInContext, options: VolumeBinderOptions = {}): StandIn {
  const { api, caches, clock, random, log } = context;
  const { provisionMillis = 3000 } = options;
  const name = 'volume-binder';
  const queue = createWorkQueue({ clock, random, log, name });
  const claims = caches.of(resources.persistentVolumeClaims);
  const volumes = caches.of(resources.persistentVolumes);
  const volumesOfClaim = volumes.index(claimKeyOf);
  const nodes = caches.of(resources.nodes);
  const claimPatches = patchesOf(api, resources.persistentVolumeClaims);
  const volumePatches = patchesOf(api, resources.persistentVolumes);
  /** When the volume of a claim will be ready, by claim uid. */
  const readyAt = new Map<string, number>();

  claims.onChange((before, after) => {
    if (after !== undefined) queue.add(keyOf(after));
    else if (before !== undefined) {
      readyAt.delete(uidOf(before));
      queue.add(keyOf(before));
    }
  });

  const sync = async (key: string): Promise<HandlerResult> => {
    const claim = claims.get(key);
    await reclaim(key, claim);
    if (claim === undefined) return undefined;
    if (claim.spec?.volumeName !== undefined && claim.status?.phase === 'Bound') return undefined;
    if (claim.spec?.volumeName !== undefined) {
      if (mayHave(claim, volumes.get(claim.spec.volumeName))) await markBound(claim, claim.spec.volumeName);
      return undefined;
    }
    const nodeName = claim.metadata?.annotations?.[SELECTED_NODE_ANNOTATION];
    if (nodeName === undefined && !isImmediate(claim, caches)) return undefined;
    const node = nodeName === undefined ? anyNode() : nodes.get(nodeName);
    if (node === undefined) {
      if (nodeName !== undefined) await forgetNode(claim);
      return undefined;
    }
    const due = readyAt.get(uidOf(claim)) ?? clock.now() + provisionMillis;
    readyAt.set(uidOf(claim), due);
    if (due > clock.now()) return { requeueAfterMillis: due - clock.now() };
    await provision(claim, node);
    return undefined;
  };

  /** The node went away before the volume was made: the scheduler has to choose again. */
  const forgetNode = async (claim: PersistentVolumeClaim): Promise<void> => {
    const body = { metadata: { annotations: { [SELECTED_NODE_ANNOTATION]: null } } };
    await claimPatches.merge(claim, body);
  };

  const anyNode = (): Node | undefined => {
    const all = [...nodes.all()];
    return all[Math.floor(random.next() * all.length)];
  };

  const provision = async (claim: PersistentVolumeClaim, node: Node): Promise<void> => {
    const volume = volumeFor(claim, node, classOf(claim, caches)?.reclaimPolicy ?? 'Delete');
    await unless(isAlreadyExists, api.create(resources.persistentVolumes, volume));
    await volumePatches.status(volume, { status: { phase: 'Bound' } });
    const bound = await claimPatches.merge(claim, { spec: { volumeName: nameOf(volume) } });
    readyAt.delete(uidOf(claim));
    await markBound(bound, nameOf(volume));
  };

  /** Both sides say so in the end: a volume bound to a claim that does not know it would hold the pod for ever. */
  const markBound = async (claim: PersistentVolumeClaim, volumeName: string): Promise<void> => {
    if (volumes.get(volumeName) === undefined && claim.status?.phase === 'Lost') return;
    const { accessModes, resources: wanted } = claim.spec ?? {};
    const body = { status: { phase: 'Bound', accessModes: accessModes ?? [], capacity: wanted?.requests ?? {} } };
    await claimPatches.status(claim, body);
  };

  /** The claim is gone, or another one has its name: its volume goes too, unless its policy keeps the data. */
  const reclaim = async (key: string, claim: PersistentVolumeClaim | undefined): Promise<void> => {
    for (const volume of [...volumesOfClaim(key)]) {
      if (claim !== undefined && mayHave(claim, volume)) continue;
      if (volume.spec?.persistentVolumeReclaimPolicy === 'Delete') {
        await unless(isNotFound, api.delete(resources.persistentVolumes, nameOf(volume), { uid: uidOf(volume) }));
      } else if (volume.status?.phase !== 'Released') {
        await volumePatches.status(volume, { status: { phase: 'Released' } });
      }
    }
  };

  return { name, run: (signal) => queue.run(2, sync, signal) };
}

/** `namespace/name` of the claim a volume is for. */
function claimKeyOf({ spec }: PersistentVolume): string | undefined {
  const { claimRef } = spec ?? {};
  return claimRef === undefined ? undefined : `${claimRef.namespace}/${claimRef.name}`;
}

/**
 * Whether the volume is nobody else's: a claim of the same name made later is another claim. A volume not seen yet may be it.
 * Source: kubernetes pkg/controller/volume/persistentvolume/pv_controller.go `syncVolume`.
 */
function mayHave(claim: PersistentVolumeClaim, volume: PersistentVolume | undefined): boolean {
  const uid = volume?.spec?.claimRef?.uid;
  return uid === undefined || uid === '' || uid === uidOf(claim);
}

function volumeFor(claim: PersistentVolumeClaim, node: Node, reclaimPolicy: string): PersistentVolume {
  const zone = node.metadata?.labels?.[ZONE_LABEL];
  const required = {
    nodeSelectorTerms: [{ matchExpressions: [{ key: ZONE_LABEL, operator: 'In', values: [zone ?? ''] }] }],
  };
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: `pvc-${uidOf(claim)}`, labels: zone === undefined ? {} : { [ZONE_LABEL]: zone } },
    spec: {
      accessModes: claim.spec?.accessModes ?? ['ReadWriteOnce'],
      capacity: claim.spec?.resources?.requests ?? { storage: '1Gi' },
      persistentVolumeReclaimPolicy: reclaimPolicy,
      claimRef: {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        namespace: namespaceOf(claim),
        name: nameOf(claim),
        uid: uidOf(claim),
      },
      csi: { driver: 'simulated.csi', volumeHandle: uidOf(claim) },
      ...(claim.spec?.storageClassName === undefined ? {} : { storageClassName: claim.spec.storageClassName }),
      ...(zone === undefined ? {} : { nodeAffinity: { required } }),
    },
  };
}
