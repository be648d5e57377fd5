/** A frozen {@link SizingView} over records given once: for CLI `plan`, back-tests and tests. */
import { isUnsettled } from './awaited-pods.ts';
import { type Freshness, workloadKey } from './cluster-view.ts';
import { runningPredecessor } from './predecessors.ts';
import type { NamespaceRecord, NodeRecord, OwnerReference, PdbRecord, PodRecord, ReplicaSetRecord } from './records.ts';
import { podsOfSized, type SizingLinks, workloadOfPod } from './sizing-owners.ts';
import type { HpaRecord, LimitRangeRecord, QuotaRecord, SizedWorkload, VpaRecord } from './sizing-records.ts';
import type { SizedPod, SizingView } from './sizing-view.ts';

export interface SizingRecords {
  /** Deployments, StatefulSets, DaemonSets, bare ReplicaSets, CronJobs, Jobs without a CronJob. */
  readonly workloads?: readonly SizedWorkload[];
  /** Jobs that belong to a CronJob. */
  readonly jobs?: readonly { readonly uid: string; readonly owner: OwnerReference }[];
  readonly replicaSets?: readonly ReplicaSetRecord[];
  /** Those without a sizing part are left out. */
  readonly pods?: readonly PodRecord[];
  readonly nodes?: readonly NodeRecord[];
  readonly namespaces?: readonly NamespaceRecord[];
  readonly limitRanges?: readonly LimitRangeRecord[];
  readonly quotas?: readonly QuotaRecord[];
  readonly hpas?: readonly HpaRecord[];
  readonly vpas?: readonly VpaRecord[];
  readonly pdbs?: readonly PdbRecord[];
  readonly unreadable?: readonly string[];
  /** Synced and fresh when left out. */
  readonly freshness?: Freshness;
}

const fresh: Freshness = { synced: true, stale: [] };

/** Indexes `records` once. Where two records claim one identity, the later one counts. */
export function createSizingSnapshot(records: SizingRecords): SizingView {
  const byKey = new Map((records.workloads ?? []).map((workload) => [workloadKey(workload), workload]));
  const byUid = new Map((records.workloads ?? []).map((workload) => [workload.uid, workload]));
  const replicaSets = new Map((records.replicaSets ?? []).map((replicaSet) => [replicaSet.uid, replicaSet]));
  const pods = new Map((records.pods ?? []).map((pod) => [`${pod.namespace}/${pod.name}`, pod]));
  const nodes = new Map((records.nodes ?? []).map((node) => [node.name, node]));
  const namespaces = new Map((records.namespaces ?? []).map((namespace) => [namespace.name, namespace]));
  const jobs = records.jobs ?? [];
  const predecessors = [...pods.values()].flatMap((pod) => runningPredecessor(pod) ?? []);
  const podsByOwner = Map.groupBy(pods.values(), ({ owner }) => owner?.uid);
  const podsByNode = Map.groupBy(pods.values(), ({ nodeName }) => nodeName);
  const links: SizingLinks = {
    workloadByUid: (uid) => byUid.get(uid),
    replicaSet: (uid) => replicaSets.get(uid),
    jobOwner: (jobUid) => jobs.find(({ uid }) => uid === jobUid)?.owner,
    replicaSetsOf: (workloadUid) => [...replicaSets.values()].filter(({ owner }) => owner?.uid === workloadUid),
    jobsOf: (cronJobUid) => jobs.filter(({ owner }) => owner.uid === cronJobUid).map(({ uid }) => uid),
    podsOwnedBy: (uid) => podsByOwner.get(uid) ?? [],
  };
  const inNamespace =
    <R extends { readonly namespace: string }>(all: readonly R[] = []) =>
    (name: string): readonly R[] =>
      all.filter(({ namespace }) => namespace === name);
  const workloadsIn = (namespace: string): readonly SizedWorkload[] =>
    [...byKey.values()].filter((workload) => workload.namespace === namespace);
  return {
    freshness: () => records.freshness ?? fresh,
    workloads: () => byKey.values(),
    workloadsIn,
    unsettled: (namespace) =>
      workloadsIn(namespace).filter((workload) => isUnsettled(workload, podsOfSized(links, workload))),
    workload: (ref) => byKey.get(workloadKey(ref)),
    workloadByUid: links.workloadByUid,
    podsOf: (workload) => podsOfSized(links, workload).flatMap(sizedPod),
    workloadOf: (pod) => workloadOfPod(links, pod),
    pod: (namespace, name) => sizedPod(pods.get(`${namespace}/${name}`))[0],
    podsOnNode: (nodeName) => (podsByNode.get(nodeName) ?? []).flatMap(sizedPod),
    nodes: () => nodes.values(),
    node: (name) => nodes.get(name),
    namespace: (name) => namespaces.get(name),
    namespaces: () => namespaces.values(),
    limitRanges: inNamespace(records.limitRanges),
    quotas: inNamespace(records.quotas),
    hpas: inNamespace(records.hpas),
    vpas: inNamespace(records.vpas),
    pdbs: inNamespace(records.pdbs),
    predecessors: () => predecessors,
    unreadable: () => records.unreadable ?? [],
  };
}

function sizedPod(pod: PodRecord | undefined): SizedPod[] {
  return pod?.sizing === undefined ? [] : [{ pod, sizing: pod.sizing }];
}
