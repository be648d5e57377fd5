/** Which workloads a policy is about, as one pass over it finds them. */
import type { PolicyTie } from '../../decide/rightsizing/policy-warnings.ts';
import type { PolicySelection } from '../../decide/rightsizing/select-policy.ts';
import { workloadKey, workloadText } from '../../model/cluster-view.ts';
import type { ValidPolicy } from '../../model/optimization-policy.ts';
import type { SizedWorkload } from '../../model/sizing-records.ts';

export interface Discovery {
  /** Counts by kind, of all that match: those of which another policy has the say are among them. */
  readonly discovered: Readonly<Record<string, number>>;
  /** Keys of those of which the policy has the say. */
  readonly owned: ReadonlySet<string>;
  /** The first policy of the same weight that matches the same workload. */
  readonly tie: PolicyTie | undefined;
}

export function discover(
  policy: ValidPolicy,
  workloads: Iterable<SizedWorkload>,
  select: (workload: SizedWorkload) => PolicySelection,
): Discovery {
  const discovered: Record<string, number> = {};
  const owned = new Set<string>();
  let tie: PolicyTie | undefined;
  for (const workload of workloads) {
    if (workload.deleting) continue;
    const { winner, others, tied } = select(workload);
    const isOwn = winner?.uid === policy.uid;
    if (!isOwn && !others.some(({ uid }) => uid === policy.uid)) continue;
    const rival = isOwn ? others[0] : winner;
    if (tied && rival?.spec.weight === policy.spec.weight) tie ??= { policy: rival, example: workloadText(workload) };
    discovered[workload.kind] = (discovered[workload.kind] ?? 0) + 1;
    if (isOwn) owned.add(workloadKey(workload));
  }
  return { discovered, owned, tie };
}
