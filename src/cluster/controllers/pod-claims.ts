/** Which pods belong to a ReplicaSet: orphans that match are adopted, its own that no longer match are let go. */
import type { Pod, ReplicaSet } from '../../api/core.ts';
import type { KubeApi } from '../../api/kube-api.ts';
import { isInvalid, isNotFound, unless } from '../../api/kube-error.ts';
import { resources } from '../../api/resources.ts';
import { patchesOf } from '../object-patches.ts';
import { controllerReference, type OwnerReference, selectorMatcher, uidOf } from '../objects.ts';
import { isActive } from '../pod-state.ts';

export interface OwnerChange {
  readonly pod: Pod;
  readonly ownerReferences: readonly OwnerReference[];
}

/**
 * The pods that have to change hands; usually none. Pure.
 * Source: pkg/controller/controller_ref_manager.go `ClaimPods`.
 *
 * @param owned pods whose controller is the set.
 * @param orphans pods of its namespace without a controller.
 */
export function ownerChanges(set: ReplicaSet, owned: Iterable<Pod>, orphans: Iterable<Pod>): OwnerChange[] {
  if (set.metadata?.deletionTimestamp !== undefined) return [];
  const matches = selectorMatcher(set.spec?.selector);
  const changes: OwnerChange[] = [];
  for (const pod of owned) {
    if (matches(pod.metadata?.labels)) continue;
    const others = (pod.metadata?.ownerReferences ?? []).filter(({ uid }) => uid !== uidOf(set));
    changes.push({ pod, ownerReferences: others });
  }
  for (const pod of orphans) {
    if (!isActive(pod) || !matches(pod.metadata?.labels)) continue;
    const owner = controllerReference(set, 'apps/v1', 'ReplicaSet');
    changes.push({ pod, ownerReferences: [...(pod.metadata?.ownerReferences ?? []), owner] });
  }
  return changes;
}

/** A pod that is gone, or that another controller took first, is left alone: the server refuses a second controller. */
export async function changeOwner(api: KubeApi, { pod, ownerReferences }: OwnerChange): Promise<void> {
  const { uid, resourceVersion } = pod.metadata ?? {};
  const body = { metadata: { uid, resourceVersion, ownerReferences } };
  const isLate = (error: unknown): boolean => isNotFound(error) || isInvalid(error);
  await unless(isLate, patchesOf(api, resources.pods).merge(pod, body));
}
