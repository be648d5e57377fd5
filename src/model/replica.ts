/**
 * Replicas with an identity that outlives their pods: the ordinal of a StatefulSet's, the node of a DaemonSet's. Where
 * a policy asks for it, each is sized by its own usage (adr/0032).
 */
import type { WorkloadRef } from './cluster-view.ts';
import type { PodRecord } from './records.ts';

/** More would not fit into an annotation beside the others (256 KiB for all), nor into the memory a workload may take. */
export const MAX_SIZED_REPLICAS = 200;

/** Whether replicas of workloads of this kind have an identity. */
export function hasReplicaIdentity(kind: string): boolean {
  return kind === 'StatefulSet' || kind === 'DaemonSet';
}

/**
 * Which replica of its workload the pod is: `7` of `db-7`, or the name of the node. Undefined where that is not known:
 * such a pod has the size of all.
 */
export function replicaOf(
  workload: Pick<WorkloadRef, 'kind' | 'name'>,
  { name, nodeName }: Pick<PodRecord, 'name' | 'nodeName'>,
): string | undefined {
  if (workload.kind === 'DaemonSet') return nodeName;
  if (workload.kind !== 'StatefulSet') return undefined;
  const prefix = `${workload.name}-`;
  const ordinal = name.startsWith(prefix) ? name.slice(prefix.length) : '';
  return /^(0|[1-9]\d*)$/.test(ordinal) ? ordinal : undefined;
}

/** What the usage of one replica is remembered under. No name of Kubernetes has a `#` in it. */
export function replicaRef({ kind, namespace, name }: WorkloadRef, replica: string): WorkloadRef {
  return { kind, namespace, name: `${name}#${replica}` };
}

/** Whether it is the usage of one replica that is remembered there. */
export function isReplicaRef({ name }: Pick<WorkloadRef, 'name'>): boolean {
  return name.includes('#');
}
