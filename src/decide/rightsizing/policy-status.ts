/** The status of a policy out of what is known of its workloads. */
import {
  MAX_WORKLOADS_IN_STATUS,
  type OptimizationPolicyStatus,
  type PolicyWorkloadStatus,
} from '../../api/optimization-policy-status.ts';
import { ascending } from '../../lib/ascending.ts';
import { formatTime } from '../../lib/rfc3339.ts';
import type { EpochMillis } from '../../lib/units.ts';
import type { WorkloadRef } from '../../model/cluster-view.ts';
import type { PolicyRecord } from '../../model/optimization-policy.ts';
import { type PolicyFacts, policyConditions } from './policy-conditions.ts';

/**
 * A workload for `status.workloads`, made into an entry only if it is among the first {@link MAX_WORKLOADS_IN_STATUS}.
 */
export interface ListedWorkload {
  readonly of: WorkloadRef;
  /** Made for those only that are listed: they are long. */
  readonly entry: () => PolicyWorkloadStatus;
  /** What following the advice saves, as one number: the largest are listed first. */
  readonly worth: number;
}

export interface StatusInput {
  readonly facts: Omit<PolicyFacts, 'namespace' | 'name' | 'generation' | 'problems'>;
  /** Workloads the policy is about, by kind, whichever policy has the say over them. */
  readonly discovered: Readonly<Record<string, number>>;
  /** Of the discovered, worked on without an error by this policy. */
  readonly processed: number;
  readonly workloads: readonly ListedWorkload[];
}

/**
 * A policy that is not valid keeps what was known; one that is disabled keeps its workloads (requirement R7.7).
 * @param input undefined for a policy that is not valid.
 */
export function policyStatus(
  policy: PolicyRecord,
  input: StatusInput | undefined,
  now: EpochMillis,
): OptimizationPolicyStatus {
  const { status: before, generation, namespace, name, problems } = policy;
  const previous = Array.isArray(before.conditions) ? before.conditions : [];
  const identity = { namespace, name, generation, problems };
  if (input === undefined) {
    const facts = { ...identity, mode: '', dryRun: false, owned: 0, withUsage: 0, failing: [] };
    const conditions = policyConditions({ ...facts, metricsProblem: undefined, forbidden: undefined }, previous, now);
    return { ...before, observedGeneration: generation, conditions };
  }
  const count = (kind: string): number => input.discovered[kind] ?? 0;
  const discovered = Object.values(input.discovered).reduce((sum, each) => sum + each, 0);
  const listed = input.workloads.toSorted(byWorth).slice(0, MAX_WORKLOADS_IN_STATUS);
  const workloads = withinBytes(listed);
  const omitted = input.workloads.length - workloads.length;
  return {
    observedGeneration: generation,
    conditions: policyConditions({ ...identity, ...input.facts }, previous, now),
    workloadsDiscovered: discovered,
    workloadsProcessed: input.processed,
    lastReconciliation: formatTime(now),
    workloadsByType: {
      deployments: count('Deployment'),
      statefulSets: count('StatefulSet'),
      daemonSets: count('DaemonSet'),
    },
    workloads,
    ...(omitted > 0 && { workloadsOmitted: omitted }),
  };
}

/**
 * The first that fit together; the rest is counted as omitted. What etcd takes is 1.5 MiB (its default), and a request
 * too large would fail as a whole, each time. A third is left to metadata and conditions.
 */
function withinBytes(listed: readonly ListedWorkload[]): PolicyWorkloadStatus[] {
  const entries: PolicyWorkloadStatus[] = [];
  let bytes = 0;
  for (const { entry } of listed) {
    const made = entry();
    bytes += Buffer.byteLength(JSON.stringify(made));
    if (bytes > MAX_BYTES) break;
    entries.push(made);
  }
  return entries;
}

const MAX_BYTES = 1024 * 1024;

type Worth = Pick<ListedWorkload, 'of' | 'worth'>;

/** In which order workloads are listed, where only the first of them are. */
export function byWorth(a: Worth, b: Worth): number {
  return b.worth - a.worth || ascending(nameOf(a), nameOf(b));
}

const nameOf = ({ of: { namespace, name, kind } }: Worth): string => `${namespace}/${name}/${kind}`;
