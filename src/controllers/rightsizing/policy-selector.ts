/** Which policy has the say over a workload, and which workloads a policy is about. */
import type { PolicyTie } from '../../decide/rightsizing/policy-warnings.ts';
import { createPolicyIndex, type PolicyIndex, type PolicySelection } from '../../decide/rightsizing/select-policy.ts';
import { workloadKey, workloadText } from '../../model/cluster-view.ts';
import type { PolicyRecord, ValidPolicy } from '../../model/optimization-policy.ts';
import type { SizedWorkload } from '../../model/sizing-records.ts';
import type { SizingView } from '../../model/sizing-view.ts';
import type { RightsizingSettings } from './settings.ts';

export interface PolicySelectorOptions {
  readonly view: Pick<SizingView, 'namespace'>;
  /** Hands out the same array until a policy changes. */
  readonly policies: { policies(): readonly PolicyRecord[] };
  readonly settings: () => Pick<RightsizingSettings, 'tenancy'>;
}

/** The winner, and which others match. Cheap: the policies are indexed once. */
export type SelectPolicy = (workload: SizedWorkload) => PolicySelection;

export function createPolicySelector({ view, policies, settings }: PolicySelectorOptions): SelectPolicy {
  let indexed: { of: readonly PolicyRecord[]; tenancy: RightsizingSettings['tenancy']; index: PolicyIndex } | undefined;
  return (workload) => {
    const of = policies.policies();
    const { tenancy } = settings();
    if (indexed?.of !== of || indexed.tenancy !== tenancy)
      indexed = { of, tenancy, index: createPolicyIndex(of, tenancy) };
    return indexed.index.select(workload, view.namespace(workload.namespace));
  };
}

/** As one pass over the policy finds them. */
export interface Discovery {
  /** Counts by kind, of all that match: those of which another policy has the say are among them. */
  readonly discovered: Readonly<Record<string, number>>;
  /** Keys of those of which the policy has the say. */
  readonly owned: ReadonlySet<string>;
  /** The first policy of the same weight that matches the same workload. */
  readonly tie: PolicyTie | undefined;
}

export function discover(policy: ValidPolicy, workloads: Iterable<SizedWorkload>, select: SelectPolicy): Discovery {
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
