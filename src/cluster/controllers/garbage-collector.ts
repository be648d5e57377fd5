/** Stand-in of the garbage collector: deletes what its owners left behind, in the background or before them. */
import type { KubeObject } from '../../api/core.ts';
import { isNotFound, unless } from '../../api/kube-error.ts';
import { type ResourceType, resources } from '../../api/resources.ts';
import { createWorkQueue } from '../../kube/queue.ts';
import type { Timer } from '../../lib/clock.ts';
import type { ObjectCache } from '../caches.ts';
import { patchesOf } from '../object-patches.ts';
import { keyOf, metaOf, nameOf, namespaceOf, type OwnerReference, uidOf } from '../objects.ts';
import type { StandIn, StandInContext } from '../stand-in.ts';

/** Types that own or are owned. An owner of any other type is taken to exist. */
const COLLECTED: readonly ResourceType[] = [
  resources.pods,
  resources.replicaSets,
  resources.deployments,
  resources.statefulSets,
  resources.daemonSets,
  resources.controllerRevisions,
  resources.persistentVolumeClaims,
  resources.podDisruptionBudgets,
  resources.configMaps,
  resources.secrets,
  resources.services,
];
/** From the end of an owner to a look through the types that are not followed; many owners that go together cost one. */
const SWEEP_MILLIS = 1000;
const FOREGROUND = 'foregroundDeletion';
const ORPHAN = 'orphan';
const WORKERS = 5;

interface Known {
  readonly type: ResourceType;
  readonly object: KubeObject;
}

export interface GarbageOptions {
  /**
   * Further types whose objects may be owned by one of the followed types, such as custom ones. They are asked for, and
   * listed, after an owner has gone: nobody follows types that come and go.
   */
  readonly types?: () => readonly ResourceType[];
}

/**
 * What is deleted was seen without its owners twice: in the cache, and by asking the server, which alone knows.
 * Source: pkg/controller/garbagecollector `attemptToDeleteItem`.
 */
export function createGarbageCollector(
  { api, caches, clock, random, log }: StandInContext,
  { types = () => [] }: GarbageOptions = {},
): StandIn {
  const name = 'garbage-collector';
  const queue = createWorkQueue({ clock, random, log, name });
  const byUid = new Map<string, Known>();
  const dependents = new Map<string, Set<string>>();
  /** Objects of types that are not followed, on their way out. */
  const swept = new Map<string, Known>();
  let sweepTimer: Timer | undefined;
  const collectedKinds = new Set(COLLECTED.map(({ kind }) => kind));

  const watchType = (type: ResourceType, cache: ObjectCache<KubeObject>): void => {
    cache.onChange((before, after) => {
      if (after === undefined) {
        if (before !== undefined) forget(before);
        return;
      }
      const uid = uidOf(after);
      byUid.set(uid, { type, object: after });
      for (const owner of ownersOf(before)) dependents.get(owner.uid)?.delete(uid);
      for (const owner of ownersOf(after)) dependents.set(owner.uid, (dependents.get(owner.uid) ?? new Set()).add(uid));
      const isWaiting = (metaOf(after).finalizers ?? []).some((each) => each === FOREGROUND || each === ORPHAN);
      if (isWaiting || (before === undefined && ownersOf(after).length > 0)) queue.add(uid);
    });
  };

  /** An object is gone: its dependents may have to go, and owners that waited for it may. */
  const forget = (object: KubeObject): void => {
    const uid = uidOf(object);
    byUid.delete(uid);
    for (const owner of ownersOf(object)) {
      dependents.get(owner.uid)?.delete(uid);
      queue.add(owner.uid);
    }
    for (const dependent of dependents.get(uid) ?? []) queue.add(dependent);
    dependents.delete(uid);
    sweepTimer ??= clock.setTimer(SWEEP_MILLIS, () => {
      sweepTimer = undefined;
      void sweep();
    });
  };

  const sweep = async (): Promise<void> => {
    for (const type of types()) {
      try {
        for (const object of (await api.list(type)).items) {
          if (!ownersOf(object).some(isGone)) continue;
          swept.set(uidOf(object), { type, object });
          queue.add(uidOf(object));
        }
      } catch (error) {
        log.warn(
          { type: type.plural, error },
          'Looking for objects whose owners have gone failed; the next end of an owner brings another look',
        );
      }
    }
  };

  const isGone = (owner: OwnerReference): boolean => collectedKinds.has(owner.kind) && !byUid.has(owner.uid);

  const sync = async (uid: string): Promise<void> => {
    const known = byUid.get(uid) ?? swept.get(uid);
    if (known === undefined) return;
    await collect(known);
    swept.delete(uid);
  };

  const collect = async (known: Known): Promise<void> => {
    const { object } = known;
    if (metaOf(object).deletionTimestamp !== undefined) {
      const finalizers = metaOf(object).finalizers ?? [];
      if (finalizers.includes(ORPHAN)) await orphan(known);
      else if (finalizers.includes(FOREGROUND)) await deleteInForeground(known);
      return;
    }
    const owners = ownersOf(object);
    const gone = owners.filter(isGone);
    if (gone.length === 0 || !(await isReallyGone(known, gone))) return;
    if (gone.length === owners.length) await remove(known);
    else await disown(known, new Set(gone.map((owner) => owner.uid)));
  };

  /** The cache of the owners may lag behind that of the dependents; only the server knows. */
  const isReallyGone = async ({ object }: Known, owners: readonly OwnerReference[]): Promise<boolean> => {
    for (const owner of owners) {
      const type = COLLECTED.find(({ kind }) => kind === owner.kind);
      if (type === undefined) return false;
      const found = await unless(isNotFound, api.get(type, owner.name, { namespace: namespaceOf(object) }));
      if (found !== undefined && uidOf(found) === owner.uid) return false;
    }
    return true;
  };

  const deleteInForeground = async (owner: Known): Promise<void> => {
    const blocking = [...(dependents.get(uidOf(owner.object)) ?? [])].flatMap((uid) => {
      const dependent = byUid.get(uid);
      const reference = ownersOf(dependent?.object).find((each) => each.uid === uidOf(owner.object));
      return dependent !== undefined && reference?.blockOwnerDeletion === true ? [dependent] : [];
    });
    if (blocking.length === 0) {
      await removeFinalizer(owner, FOREGROUND);
      return;
    }
    for (const dependent of blocking) {
      if (metaOf(dependent.object).deletionTimestamp === undefined) await remove(dependent, 'Foreground');
    }
  };

  const orphan = async (owner: Known): Promise<void> => {
    const uid = uidOf(owner.object);
    for (const dependent of [...(dependents.get(uid) ?? [])]) {
      const known = byUid.get(dependent);
      if (known !== undefined) await disown(known, new Set([uid]));
    }
    await removeFinalizer(owner, ORPHAN);
  };

  const remove = async ({ type, object }: Known, policy: 'Background' | 'Foreground' = 'Background'): Promise<void> => {
    const call = { ...scope(object), uid: uidOf(object), propagationPolicy: policy };
    await unless(isNotFound, api.delete(type, nameOf(object), call));
  };

  const disown = async ({ type, object }: Known, owners: ReadonlySet<string>): Promise<void> => {
    const ownerReferences = ownersOf(object).filter(({ uid }) => !owners.has(uid));
    await patchMetadata(type, object, { ownerReferences });
  };

  const removeFinalizer = async ({ type, object }: Known, finalizer: string): Promise<void> => {
    const finalizers = (metaOf(object).finalizers ?? []).filter((each) => each !== finalizer);
    await patchMetadata(type, object, { finalizers });
  };

  const patchMetadata = async (type: ResourceType, object: KubeObject, change: object): Promise<void> => {
    const { uid, resourceVersion } = metaOf(object);
    const body = { metadata: { uid, resourceVersion, ...change } };
    await unless(isNotFound, patchesOf(api, type).merge(object, body));
  };

  for (const type of COLLECTED) watchType(type, caches.of(type));
  return {
    name,
    async run(signal) {
      await queue.run(WORKERS, sync, signal);
      sweepTimer?.cancel();
    },
  };
}

function ownersOf(object: KubeObject | undefined): readonly OwnerReference[] {
  return object?.metadata?.ownerReferences ?? [];
}

function scope(object: KubeObject): { namespace?: string } {
  return keyOf(object).includes('/') ? { namespace: namespaceOf(object) } : {};
}
