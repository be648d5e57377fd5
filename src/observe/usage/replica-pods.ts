/** Which replica the pods of a workload are, where its policy has them told apart. */
import { rightsizingKeys } from '../../api/annotations-rightsizing.ts';
import { hasReplicaIdentity, MAX_SIZED_REPLICAS, mayHaveOwn, replicaOf } from '../../model/replica.ts';
import { noReplicas, type ReplicaStates, readReplicaSizes } from '../../model/replica-sizes.ts';
import type { SizedPod } from '../../model/sizing-view.ts';
import type { UsageTarget } from '../../model/usage-settings.ts';

export interface ReplicaPods {
  /** Those that have a pod now and may have sizes of their own; empty where replicas are not told apart. */
  readonly present: ReadonlySet<string>;
  /** Of a pod by its name, perhaps one that is gone; undefined where that is not known. */
  replicaOf(podName: string): string | undefined;
}

const none: ReplicaPods = { present: new Set<string>(), replicaOf: () => undefined };

export function replicaPodsOf({ workload, settings }: UsageTarget, pods: readonly SizedPod[]): ReplicaPods {
  if (settings.isPerReplica !== true || !hasReplicaIdentity(workload.kind)) return none;
  const byName = new Map<string, string>();
  for (const { pod } of pods) {
    const replica = replicaOf(workload, pod);
    if (replica !== undefined) byName.set(pod.name, replica);
  }
  const all = new Set(byName.values());
  // With more than may have sizes of their own, nothing is remembered of the rest.
  const own = all.size > MAX_SIZED_REPLICAS ? statesOf(workload) : noReplicas;
  return {
    present: new Set(mayHaveOwn(all, own)),
    // Of a pod that is gone only its name is left: enough for an ordinal, and not for a node.
    replicaOf: (name) => byName.get(name) ?? replicaOf(workload, { name, nodeName: undefined }),
  };
}

function statesOf({ annotations, containers }: UsageTarget['workload']): ReplicaStates {
  return readReplicaSizes(annotations[rightsizingKeys.replicaSizes], containers);
}
