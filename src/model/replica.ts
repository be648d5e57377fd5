/**
 * Replicas with an identity that outlives their pods: the ordinal of a StatefulSet's, the node of a DaemonSet's. Where
 * a policy asks for it, each is sized by its own usage (adr/0032).
 */
import { ascending } from '../lib/ascending.ts';
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
  return isOrdinal(ordinal) ? ordinal : undefined;
}

/**
 * Of the replicas that there are, those that may have sizes of their own: who has one, then the first. All others
 * have the size of all.
 */
export function mayHaveOwn(
  present: Iterable<string>,
  own: Pick<ReadonlyMap<string, unknown>, 'has'>,
): readonly string[] {
  const all = [...new Set(present)];
  const inOrder = all.length > MAX_SIZED_REPLICAS ? all.toSorted(byReplica) : all;
  const [known, others] = [inOrder.filter((each) => own.has(each)), inOrder.filter((each) => !own.has(each))];
  return [...known, ...others].slice(0, MAX_SIZED_REPLICAS);
}

/** Of two replicas of one workload: ordinals by number, nodes by name. */
export function byReplica(a: string, b: string): number {
  const areOrdinals = isOrdinal(a) && isOrdinal(b);
  return (areOrdinals ? a.length - b.length : 0) || ascending(a, b);
}

const isOrdinal = (text: string): boolean => /^(0|[1-9]\d*)$/.test(text);

/** What the usage of one replica is remembered under. No name of Kubernetes has a `#` in it. */
export function replicaRef({ kind, namespace, name }: WorkloadRef, replica: string): WorkloadRef {
  return { kind, namespace, name: `${name}#${replica}` };
}

/** Whether it is the usage of one replica that is remembered there. */
export function isReplicaRef({ name }: Pick<WorkloadRef, 'name'>): boolean {
  return name.includes('#');
}
