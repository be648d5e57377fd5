/**
 * ClusterView: the one read-only picture of the cluster that every decision is made on. The live stores, a frozen
 * snapshot (CLI `plan`, tests) and the simulator implement it, so they all run the very same decision code.
 */
import type { RunningPredecessor } from './predecessors.ts';
import type {
  ComputeResources,
  NamespaceRecord,
  NodeRecord,
  OwnerReference,
  PdbRecord,
  PodRecord,
  ReplicaSetRecord,
  VolumeClaimRecord,
  WorkloadRecord,
} from './records.ts';

/** Identity of a workload, and how logs, metrics and the journal name it. */
export interface WorkloadRef {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** Whether the picture may be trusted for disruption. */
export interface Freshness {
  /** Every store has had its first complete list. */
  readonly synced: boolean;
  /** Names of the stores whose watch is broken or too old, e.g. `pods`; empty when all are fresh. */
  readonly stale: readonly string[];
  /** Names of what may not be read at all, where no store follows it: the picture of a command with few rights. */
  readonly hidden?: readonly string[];
}

/** What the pods bound to one node request together; Succeeded and Failed pods count for nothing. */
export interface NodeUsage extends ComputeResources {
  readonly pods: number;
  /** Pods of other namespaces are not seen, so the node may have less left than this leaves. */
  readonly isPartial?: true;
}

export interface ClusterView {
  /**
   * @param namespace what is asked about belongs to it. Of several that are watched some may not be read, and count only
   * where they are asked about.
   */
  freshness(namespace?: string): Freshness;
  namespace(name: string): NamespaceRecord | undefined;
  nodes(): Iterable<NodeRecord>;
  node(name: string): NodeRecord | undefined;
  /** All workloads, enabled or not. */
  workloads(): Iterable<WorkloadRecord>;
  workload(ref: WorkloadRef): WorkloadRecord | undefined;
  workloadByUid(uid: string): WorkloadRecord | undefined;
  /** Whether owners like this one are followed, besides Deployments and StatefulSets; left out, none are. */
  isOwnerKind?(owner: OwnerReference): boolean;
  replicaSet(uid: string): ReplicaSetRecord | undefined;
  /** As they say themselves, from whatever namespace: `replicaSetsOf` of owners.ts is what to ask. */
  replicaSetsOf(workloadUid: string): readonly ReplicaSetRecord[];
  /**
   * Pods whose controller owner has this uid (a ReplicaSet, a StatefulSet). Every phase, terminating included; as they
   * say themselves, from whatever namespace: `podsOwnedBy` of owners.ts is what to ask.
   */
  podsOwnedBy(ownerUid: string): readonly PodRecord[];
  pod(namespace: string, name: string): PodRecord | undefined;
  podsOnNode(nodeName: string): readonly PodRecord[];
  /** Kept up to date as pods come and go, so that asking costs nothing. Zero for a node that is not known. */
  requestedOnNode(nodeName: string): NodeUsage;
  pdbs(namespace: string): readonly PdbRecord[];
  /** Programs of the systems whose place Stowage takes. Kept up to date as pods come and go. */
  predecessors(): readonly RunningPredecessor[];
  volumeClaim(namespace: string, name: string): VolumeClaimRecord | undefined;
}

/** Log, metric and queue key of a workload: `Deployment/shop/web`. */
export function workloadKey(ref: WorkloadRef): string {
  // Joined: a template makes a rope, which the maps that use it as a key would keep beside its text.
  return [ref.kind, ref.namespace, ref.name].join('/');
}

/** `Deployment shop/web`: how texts for people call a workload. */
export function workloadText({ kind, namespace, name }: WorkloadRef): string {
  return `${kind} ${namespace}/${name}`;
}

/** The workload of a {@link workloadKey} that somebody typed; undefined where it is none. */
export function parseWorkloadKey(text: string): WorkloadRef | undefined {
  const [kind = '', namespace = '', name = '', ...rest] = text.split('/');
  return kind === '' || namespace === '' || name === '' || rest.length > 0 ? undefined : { kind, namespace, name };
}

/** The workload of a {@link workloadKey}. */
export function workloadOfKey(key: string): WorkloadRef {
  const [kind = '', namespace = '', name = ''] = key.split('/');
  return { kind, namespace, name };
}
