/**
 * What rightsizing would change, workload by workload, with the reason. Recommendations come from what the operator measured and
 * wrote into the policies' status: usage itself is in no dump.
 */
import { rightsizingKeys } from '../../api/annotations-rightsizing.ts';
import type { ContainerRecommendation, PolicyWorkloadStatus } from '../../api/optimization-policy-status.ts';
import { formatCpu, formatMemory } from '../../decide/rightsizing/amount-text.ts';
import { isGranted, type PolicyTenancy } from '../../decide/rightsizing/policy-match.ts';
import { requestOf } from '../../decide/rightsizing/recommend-workload.ts';
import { replicaText } from '../../decide/rightsizing/replica-text.ts';
import { createPolicyIndex } from '../../decide/rightsizing/select-policy.ts';
import { readAppliedSizes, withAppliedSizes } from '../../model/applied-sizes.ts';
import type { ClusterView } from '../../model/cluster-view.ts';
import { isValidPolicy, type PolicyRecord, type ValidPolicy } from '../../model/optimization-policy.ts';
import { byReplica } from '../../model/replica.ts';
import { readReplicaSizes, withReplicaSizes } from '../../model/replica-sizes.ts';
import type { ContainerSize, ContainerSpecRecord, SizedWorkload } from '../../model/sizing-records.ts';
import type { SizingSource } from '../input/load-input.ts';

/** One container: what it requests and what is recommended; an absent `to` is not advised. */
export interface SizeDifference {
  readonly container: string;
  readonly cpu?: { readonly from?: string; readonly to: string };
  readonly memory?: { readonly from?: string; readonly to: string };
  readonly why?: string;
}

/** Whether some container would get other requests; what is advised for all is for nobody where each replica has its own. */
export function hasResize({ mode, differences, isForNobody }: PlannedSizes): boolean {
  return mode === 'Auto' && isForNobody !== true && differences.some(isResized);
}

/** Whether the container would get other requests. */
export function isResized({ cpu, memory }: SizeDifference): boolean {
  return [cpu, memory].some((each) => each !== undefined && each.from !== each.to);
}

/** One workload that a policy selects. */
export interface PlannedSizes {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** `namespace/name` of the policy that has the say. */
  readonly policy: string;
  readonly mode: string;
  /** Of the operator's last look; absent where it has not looked yet. */
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastApplied?: string;
  /** In words, where the policy asks for a size per replica. */
  readonly replicaSizes?: string;
  /** Each replica that has a size of its own; with --operator, all of them. */
  readonly replicas?: readonly { readonly replica: string; readonly sizes: string }[];
  /** No replica has the size of all: the differences are what new ones would have, and no pod is resized for them. */
  readonly isForNobody?: boolean;
  readonly differences: readonly SizeDifference[];
  /** What is missing for advice. */
  readonly missing?: string;
  /** Why usage cannot be read at present: nothing is changed meanwhile. */
  readonly unread?: string;
}

/** Every policy that may have a say, with what is wrong with it, and every workload one of them selects. */
export interface SizingPlan {
  /** Not where the operator's configuration is given and has the engine off: nothing is changed then. */
  readonly isOn: boolean;
  readonly policies: readonly {
    readonly policy: string;
    readonly mode?: string;
    readonly problems: readonly string[];
    /** Why usage of its workloads cannot be read at present. */
    readonly unread?: string;
  }[];
  readonly workloads: readonly PlannedSizes[];
}

/** @param namespace the only one to look at; undefined for all. */
export function planSizes(
  { policies, workloads, isOn }: SizingSource,
  view: Pick<ClusterView, 'namespace'>,
  tenancy: PolicyTenancy,
  namespace?: string,
): SizingPlan {
  const index = createPolicyIndex(policies, tenancy);
  const planned = workloads.flatMap((workload) => {
    if (namespace !== undefined && workload.namespace !== namespace) return [];
    const { winner } = index.select(workload, view.namespace(workload.namespace));
    return winner === undefined ? [] : [sizesOf(workload, winner)];
  });
  const concern = policies.filter(
    (policy) => namespace === undefined || policy.namespace === namespace || isGranted(policy.namespace, tenancy),
  );
  return {
    isOn,
    policies: concern.map((policy) => ({
      policy: `${policy.namespace}/${policy.name}`,
      ...(isValidPolicy(policy) && { mode: policy.spec.mode }),
      problems: policy.problems,
      ...unreadOf(policy),
    })),
    workloads: planned,
  };
}

/** As the operator wrote it at its last look. */
function unreadOf({ status }: Pick<PolicyRecord, 'status'>): { readonly unread?: string } {
  const told = status.conditions?.find(({ type }) => type === 'MetricsAvailable');
  const isUnread = told?.status === 'False' && (told.reason === 'MetricsCollectionFailed' || told.reason === 'Stale');
  return isUnread ? { unread: told.message } : {};
}

function sizesOf(workload: SizedWorkload, policy: ValidPolicy): PlannedSizes {
  const { namespace, name, spec, status } = policy;
  const { unread } = unreadOf(policy);
  const identity = {
    kind: workload.kind,
    namespace: workload.namespace,
    name: workload.name,
    policy: `${namespace}/${name}`,
    mode: spec.mode,
    ...(unread !== undefined && spec.mode !== 'Disabled' && { unread: `${namespace}/${name}: ${unread}` }),
  };
  const entry = status.workloads?.find(
    (each) => each.kind === workload.kind && each.namespace === workload.namespace && each.name === workload.name,
  );
  if (spec.mode === 'Disabled') return { ...identity, differences: [] };
  if (entry?.recommendations === undefined) {
    const missing = `no usage is known: advice is worked out by a running operator from ${spec.metrics.provider}, and the status of the policy holds none for it yet`;
    return { ...identity, ...told(entry), differences: [], missing };
  }
  const applied = readAppliedSizes(workload.annotations[rightsizingKeys.appliedSizes]);
  const inForce = withAppliedSizes(workload.containers, applied);
  const differences = inForce.flatMap(({ name: container, size }) => {
    const recommended = entry.recommendations?.find((each) => each.container === container);
    return recommended === undefined ? [] : [differenceOf(container, size, recommended)];
  });
  return { ...identity, ...told(entry), ...replicasOf(workload, policy, inForce), differences };
}

/** By what is kept on the workload. */
function replicasOf(
  workload: SizedWorkload,
  { spec }: ValidPolicy,
  inForce: readonly ContainerSpecRecord[],
): Pick<PlannedSizes, 'replicas' | 'isForNobody'> {
  const states = readReplicaSizes(workload.annotations[rightsizingKeys.replicaSizes], workload.containers);
  if (!spec.updates.sizePerReplica || states.size === 0) return {};
  const inOrder = [...states].toSorted(([a], [b]) => byReplica(a, b));
  const replicas = inOrder.map(([replica, state]) => {
    const own = {
      replica,
      pod: undefined,
      state,
      isKnown: true,
      inForce: withReplicaSizes(inForce, state),
      advice: [],
    };
    return { replica, sizes: replicaText(own) };
  });
  return { replicas, ...(states.size >= workload.replicas && { isForNobody: true }) };
}

function told(entry: PolicyWorkloadStatus | undefined): Partial<PlannedSizes> {
  return {
    ...(entry?.status !== undefined && { status: entry.status }),
    ...(entry?.reason !== undefined && { reason: entry.reason }),
    ...(entry?.message !== undefined && { message: entry.message }),
    ...(entry?.lastApplied !== undefined && { lastApplied: entry.lastApplied }),
    ...(entry?.replicaSizes !== undefined && { replicaSizes: entry.replicaSizes }),
  };
}

function differenceOf(container: string, size: ContainerSize, recommended: ContainerRecommendation): SizeDifference {
  const { cpu, memory, explanation } = recommended;
  const [cpuNow, memoryNow] = [requestOf('cpu', size), requestOf('memory', size)];
  return {
    container,
    ...(cpu !== undefined && { cpu: { ...(cpuNow !== undefined && { from: formatCpu(cpuNow) }), to: cpu } }),
    ...(memory !== undefined && {
      memory: { ...(memoryNow !== undefined && { from: formatMemory(memoryNow) }), to: memory },
    }),
    ...(explanation !== undefined && { why: explanation }),
  };
}
