/**
 * Which pods belong to which workload: by the uids of controller owner references only, never by name or selector, and
 * only within a namespace. Anybody may write any uid into an owner reference of his own pod; Kubernetes takes one of
 * another namespace for an owner that is not there, and so do we (garbage collector: OwnerRefInvalidNamespace).
 */
import type { ClusterView } from './cluster-view.ts';
import type { OwnerReference, PodRecord, ReplicaSetRecord, WorkloadRecord } from './records.ts';

/** A pod's place in the chain of owners. */
export type OwnerResolution =
  | {
      readonly kind: 'workload';
      readonly workload: WorkloadRecord;
      /** The ReplicaSet between pod and workload; undefined for a StatefulSet's pods. */
      readonly replicaSet: ReplicaSetRecord | undefined;
      /** The pod-template-hash, or empty for a StatefulSet, whose slots are the same in every revision. */
      readonly revision: string;
    }
  /** This owner is of a kind we know but is not in the view (yet): it may be read live. */
  | { readonly kind: 'not-cached'; readonly owner: OwnerReference }
  | { readonly kind: 'unmanaged' };

const unmanaged: OwnerResolution = { kind: 'unmanaged' };

/**
 * Follows `controller: true` owner references upwards, by apiVersion group, kind and uid.
 * A DaemonSet, a Job, a bare pod, a kind of the same name in a foreign group: unmanaged. A ReplicaSet nobody owns is a
 * workload itself. One of another namespace: unmanaged.
 * @param namespace of whatever has the owner.
 */
export function resolveOwner(view: ClusterView, namespace: string, owner: OwnerReference | undefined): OwnerResolution {
  const resolution = followOwner(view, owner);
  if (resolution.kind !== 'workload') return resolution;
  const { workload, replicaSet = workload } = resolution;
  return workload.namespace === namespace && replicaSet.namespace === namespace ? resolution : unmanaged;
}

function followOwner(view: ClusterView, owner: OwnerReference | undefined): OwnerResolution {
  if (owner === undefined || groupOf(owner.apiVersion) !== 'apps') return unmanaged;
  if (owner.kind === 'StatefulSet') {
    const workload = view.workloadByUid(owner.uid);
    return workload === undefined
      ? { kind: 'not-cached', owner }
      : { kind: 'workload', workload, replicaSet: undefined, revision: '' };
  }
  if (owner.kind !== 'ReplicaSet') return unmanaged;
  const replicaSet = view.replicaSet(owner.uid);
  if (replicaSet === undefined) return { kind: 'not-cached', owner };
  if (replicaSet.owner === undefined) {
    const { workload, revision } = replicaSet;
    return workload === undefined ? unmanaged : { kind: 'workload', workload, replicaSet, revision };
  }
  const workload = view.workloadByUid(replicaSet.owner.uid);
  if (workload !== undefined) return { kind: 'workload', workload, replicaSet, revision: replicaSet.revision };
  return isDeployment(replicaSet.owner) || view.isOwnerKind?.(replicaSet.owner) === true
    ? { kind: 'not-cached', owner: replicaSet.owner }
    : unmanaged;
}

function isDeployment({ apiVersion, kind }: OwnerReference): boolean {
  return groupOf(apiVersion) === 'apps' && kind === 'Deployment';
}

/** The API group of an `apiVersion`; empty for the core group. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? '' : apiVersion.slice(0, slash);
}

/** The pods of one revision of a workload. */
export interface RevisionPods {
  /** As in {@link OwnerResolution}. */
  readonly revision: string;
  readonly replicaSet: ReplicaSetRecord | undefined;
  /** Every phase, terminating included. */
  readonly pods: readonly PodRecord[];
}

/** The ReplicaSets of a workload; a ReplicaSet that is a workload has itself. */
export function replicaSetsOf(view: ClusterView, workload: WorkloadRecord): readonly ReplicaSetRecord[] {
  if (workload.kind !== 'ReplicaSet') return within(workload.namespace, view.replicaSetsOf(workload.uid));
  const itself = view.replicaSet(workload.uid);
  return itself === undefined ? [] : [itself];
}

/** The pods that a ReplicaSet or StatefulSet of this namespace owns, every phase. */
export function podsOwnedBy(view: ClusterView, namespace: string, ownerUid: string): readonly PodRecord[] {
  return within(namespace, view.podsOwnedBy(ownerUid));
}

/** Those of this namespace; nearly always all, and then the list itself. */
export function within<R extends { readonly namespace: string }>(
  namespace: string,
  records: readonly R[],
): readonly R[] {
  const isOwn = (record: R): boolean => record.namespace === namespace;
  return records.every(isOwn) ? records : records.filter(isOwn);
}

/** All pods of a workload by revision; ReplicaSets without pods are included. A StatefulSet has one entry. */
export function revisionsOf(view: ClusterView, workload: WorkloadRecord): readonly RevisionPods[] {
  if (workload.rollout.type === 'StatefulSet') {
    return [{ revision: '', replicaSet: undefined, pods: podsOwnedBy(view, workload.namespace, workload.uid) }];
  }
  return replicaSetsOf(view, workload).map((replicaSet) => ({
    revision: replicaSet.revision,
    replicaSet,
    pods: podsOwnedBy(view, workload.namespace, replicaSet.uid),
  }));
}

/** All pods of a workload, every phase, terminating included. */
export function podsOf(view: ClusterView, workload: WorkloadRecord): readonly PodRecord[] {
  return revisionsOf(view, workload).flatMap((revision) => revision.pods);
}

/** Succeeded or Failed: none of its containers runs any more, and its node has its requests back. */
export function hasEnded({ phase }: Pick<PodRecord, 'phase'>): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

/** A pod that takes part: not terminating, not ended. It may wait for a node still. */
export function isLive(pod: Pick<PodRecord, 'phase' | 'deletingAt'>): boolean {
  return pod.deletingAt === undefined && !hasEnded(pod);
}

/** Live, and its containers have been started. */
export function isRunning(pod: Pick<PodRecord, 'phase' | 'deletingAt'>): boolean {
  return pod.deletingAt === undefined && pod.phase === 'Running';
}

/**
 * The ordinal of a StatefulSet's pod, from its name `<set>-<ordinal>`; undefined for any other name.
 * Source: kubernetes pkg/controller/statefulset/stateful_set_utils.go, getParentNameAndOrdinal.
 */
export function ordinalOf(podName: string, setName: string): number | undefined {
  const text = podName.startsWith(`${setName}-`) ? podName.slice(setName.length + 1) : '';
  return /^(0|[1-9][0-9]{0,8})$/.test(text) ? Number(text) : undefined;
}

/** Where slots of a StatefulSet start: `spec.ordinals.start`, else 0. */
export function firstOrdinal(workload: WorkloadRecord): number {
  return workload.rollout.type === 'StatefulSet' ? workload.rollout.start : 0;
}
