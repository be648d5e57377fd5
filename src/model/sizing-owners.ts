/**
 * Which pods belong to which workload in the end, through ReplicaSets and Jobs: by uids of controller owner references
 * only, and within a namespace, as in owners.ts.
 */
import { within } from './owners.ts';
import type { OwnerReference, PodRecord, ReplicaSetRecord } from './records.ts';
import type { SizedWorkload } from './sizing-records.ts';

/** Where the links between owners are looked up. */
export interface SizingLinks {
  workloadByUid(uid: string): SizedWorkload | undefined;
  replicaSet(uid: string): ReplicaSetRecord | undefined;
  /** The owner of a Job (a CronJob); undefined for a Job of its own. */
  jobOwner(jobUid: string): OwnerReference | undefined;
  replicaSetsOf(workloadUid: string): readonly ReplicaSetRecord[];
  /** Uids of the Jobs of a CronJob. */
  jobsOf(cronJobUid: string): readonly string[];
  podsOwnedBy(ownerUid: string): readonly PodRecord[];
}

/** All pods of a workload, every revision and phase. */
export function podsOfSized(links: SizingLinks, workload: SizedWorkload): readonly PodRecord[] {
  return within(workload.namespace, podsBelow(links, workload));
}

function podsBelow(links: SizingLinks, { kind, uid, namespace }: SizedWorkload): readonly PodRecord[] {
  switch (kind) {
    case 'StatefulSet':
    case 'DaemonSet':
    case 'ReplicaSet':
    case 'Job':
      return links.podsOwnedBy(uid);
    case 'CronJob':
      return links.jobsOf(uid).flatMap((job) => links.podsOwnedBy(job));
    default:
      return within(namespace, links.replicaSetsOf(uid)).flatMap((replicaSet) => links.podsOwnedBy(replicaSet.uid));
  }
}

/** Undefined for a bare pod, and for one whose owner is of a kind that is not sized. */
export function workloadOfPod(
  links: SizingLinks,
  { namespace, owner }: Pick<PodRecord, 'namespace' | 'owner'>,
): SizedWorkload | undefined {
  if (owner === undefined) return undefined;
  const workload = workloadAbove(links, owner);
  return workload?.namespace === namespace ? workload : undefined;
}

function workloadAbove(links: SizingLinks, owner: OwnerReference): SizedWorkload | undefined {
  const above = owner.kind === 'ReplicaSet' ? links.replicaSet(owner.uid)?.owner : links.jobOwner(owner.uid);
  return above === undefined ? links.workloadByUid(owner.uid) : links.workloadByUid(above.uid);
}
