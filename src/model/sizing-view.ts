/**
 * SizingView: the read-only picture that sizing decisions are made on. Live stores and frozen snapshots implement it
 * alike.
 */
import type { Freshness, WorkloadRef } from './cluster-view.ts';
import type { RunningPredecessor } from './predecessors.ts';
import type { NamespaceRecord, NodeRecord, PdbRecord, PodRecord } from './records.ts';
import type {
  HpaRecord,
  LimitRangeRecord,
  PodSizing,
  QuotaRecord,
  SizedWorkload,
  VpaRecord,
} from './sizing-records.ts';

export interface SizedPod {
  readonly pod: PodRecord;
  readonly sizing: PodSizing;
}

export interface SizingView {
  /** As of a ClusterView. */
  freshness(namespace?: string): Freshness;
  /** Deployments, StatefulSets, DaemonSets and the kinds that are only advised. */
  workloads(): Iterable<SizedWorkload>;
  workloadsIn(namespace: string): readonly SizedWorkload[];
  /** Of the namespace those with pods that are missing, too many, or on their way out. */
  unsettled(namespace: string): readonly SizedWorkload[];
  workload(ref: WorkloadRef): SizedWorkload | undefined;
  workloadByUid(uid: string): SizedWorkload | undefined;
  /** Pods of all revisions, every phase, terminating included. */
  podsOf(workload: SizedWorkload): readonly SizedPod[];
  /** The workload a pod belongs to in the end; undefined for a bare pod. */
  workloadOf(pod: Pick<PodRecord, 'namespace' | 'owner'>): SizedWorkload | undefined;
  pod(namespace: string, name: string): SizedPod | undefined;
  podsOnNode(nodeName: string): readonly SizedPod[];
  nodes(): Iterable<NodeRecord>;
  node(name: string): NodeRecord | undefined;
  namespace(name: string): NamespaceRecord | undefined;
  namespaces(): Iterable<NamespaceRecord>;
  limitRanges(namespace: string): readonly LimitRangeRecord[];
  quotas(namespace: string): readonly QuotaRecord[];
  hpas(namespace: string): readonly HpaRecord[];
  vpas(namespace: string): readonly VpaRecord[];
  pdbs(namespace: string): readonly PdbRecord[];
  /** As of a ClusterView. */
  predecessors(): readonly RunningPredecessor[];
  /** `plural.group` of types that are served and may not be read: of their objects nothing is known. */
  unreadable(): readonly string[];
}
