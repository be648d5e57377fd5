/**
 * A frozen, indexed {@link ClusterView} over records given once: what CLI `plan`, the simulator and tests decide on.
 */

import type { ClusterView, Freshness, NodeUsage, WorkloadRef } from './cluster-view.ts';
import { workloadKey } from './cluster-view.ts';
import { hasEnded } from './owners.ts';
import { runningPredecessor } from './predecessors.ts';
import type {
  NamespaceRecord,
  NodeRecord,
  PdbRecord,
  PodRecord,
  ReplicaSetRecord,
  VolumeClaimRecord,
  WorkloadRecord,
} from './records.ts';

export interface SnapshotRecords {
  readonly namespaces?: readonly NamespaceRecord[];
  readonly nodes?: readonly NodeRecord[];
  readonly workloads?: readonly WorkloadRecord[];
  readonly replicaSets?: readonly ReplicaSetRecord[];
  readonly pods?: readonly PodRecord[];
  readonly pdbs?: readonly PdbRecord[];
  readonly volumeClaims?: readonly VolumeClaimRecord[];
  /** `pods` are those of some namespaces only: what nodes have left is not known. */
  readonly isPartial?: boolean;
  /** That of the operator; left out, it is not known. */
  readonly ownNamespace?: string;
  /** Synced and fresh when left out. */
  readonly freshness?: Freshness;
}

const fresh: Freshness = { synced: true, stale: [] };
const unused: NodeUsage = { cpuMillis: 0, memoryBytes: 0, pods: 0 };

/** Indexes `records` once. Where two records claim one identity, the later one counts. */
export function createSnapshot(records: SnapshotRecords): ClusterView {
  const namespaces = indexBy(records.namespaces, (namespace) => namespace.name);
  const nodes = indexBy(records.nodes, (node) => node.name);
  const bare = (records.replicaSets ?? []).flatMap(({ workload }) => workload ?? []);
  const workloads = indexBy([...bare, ...(records.workloads ?? [])], workloadKey);
  const workloadsByUid = indexBy([...workloads.values()], (workload) => workload.uid);
  const replicaSets = indexBy(records.replicaSets, (replicaSet) => replicaSet.uid);
  const replicaSetsByOwner = groupBy([...replicaSets.values()], (replicaSet) => replicaSet.owner?.uid);
  const pods = indexBy(records.pods, (pod) => namespacedKey(pod.namespace, pod.name));
  const podsByOwner = groupBy([...pods.values()], (pod) => pod.owner?.uid);
  const podsByNode = groupBy([...pods.values()], (pod) => pod.nodeName);
  const budgets = indexBy(records.pdbs, (pdb) => namespacedKey(pdb.namespace, pdb.name));
  const pdbs = groupBy([...budgets.values()], (pdb) => pdb.namespace);
  const claims = indexBy(records.volumeClaims, (claim) => namespacedKey(claim.namespace, claim.name));
  const seen = (sums: NodeUsage): NodeUsage => (records.isPartial === true ? { ...sums, isPartial: true } : sums);
  const usage = new Map([...podsByNode].map(([node, bound]) => [node, seen(usageOf(bound))]));
  const withoutPods = seen(unused);
  const predecessors = [...pods.values()].flatMap((pod) => runningPredecessor(pod, records.ownNamespace) ?? []);
  const freshness = records.freshness ?? fresh;

  return {
    freshness: () => freshness,
    namespace: (name) => namespaces.get(name),
    nodes: () => nodes.values(),
    node: (name) => nodes.get(name),
    workloads: () => workloads.values(),
    workload: (ref: WorkloadRef) => workloads.get(workloadKey(ref)),
    workloadByUid: (uid) => workloadsByUid.get(uid),
    replicaSet: (uid) => replicaSets.get(uid),
    replicaSetsOf: (workloadUid) => replicaSetsByOwner.get(workloadUid) ?? [],
    podsOwnedBy: (ownerUid) => podsByOwner.get(ownerUid) ?? [],
    pod: (namespace, name) => pods.get(namespacedKey(namespace, name)),
    podsOnNode: (nodeName) => podsByNode.get(nodeName) ?? [],
    requestedOnNode: (nodeName) => usage.get(nodeName) ?? withoutPods,
    pdbs: (namespace) => pdbs.get(namespace) ?? [],
    predecessors: () => predecessors,
    volumeClaim: (namespace, name) => claims.get(namespacedKey(namespace, name)),
  };
}

/**
 * What `pods` request together. A pod that has ended gave its share back (scheduler: NodeInfo holds no terminal pods).
 */
export function usageOf(pods: Iterable<PodRecord>): NodeUsage {
  let [cpuMillis, memoryBytes, count] = [0, 0, 0];
  for (const pod of pods) {
    if (hasEnded(pod)) continue;
    cpuMillis += pod.template.requests.cpuMillis;
    memoryBytes += pod.template.requests.memoryBytes;
    count++;
  }
  return { cpuMillis, memoryBytes, pods: count };
}

function namespacedKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

function indexBy<T>(records: readonly T[] | undefined, keyOf: (record: T) => string): ReadonlyMap<string, T> {
  return new Map((records ?? []).map((record) => [keyOf(record), record]));
}

function groupBy<T>(
  records: readonly T[] | undefined,
  keyOf: (record: T) => string | undefined,
): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const record of records ?? []) {
    const key = keyOf(record);
    if (key === undefined) continue;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [record]);
    else group.push(record);
  }
  return groups;
}
