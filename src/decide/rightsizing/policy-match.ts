/** Whether a policy is about a workload; and if not, which part of it says so. */
import type { ValidPolicy } from '../../model/optimization-policy.ts';
import type { NamespaceRecord } from '../../model/records.ts';
import type { SizedWorkload } from '../../model/sizing-records.ts';

/**
 * Who may size whose workloads. Without it whoever may create a policy in a namespace of his own can resize every
 * workload of the cluster, and outrank all others by weight (OptiPod defect B12).
 */
export interface PolicyTenancy {
  /** Policies here may select workloads of any namespace. */
  readonly operatorNamespace: string;
  /** So may policies of these namespaces; `*` is every namespace, as in OptiPod. */
  readonly allowedPolicyNamespaces: ReadonlySet<string>;
}

/** The part of a policy, or of the tenancy, that leaves a workload out. */
export type PolicyMismatch =
  | 'scope'
  | 'system-namespace'
  | 'namespace-denied'
  | 'namespace-not-allowed'
  | 'namespace-labels'
  | 'kind'
  | 'workload-labels';

/** Namespaces of the control plane: a policy must name them in `namespaces.allow`, a selector is not enough. */
export const systemNamespaces: ReadonlySet<string> = new Set(['kube-system', 'kube-public', 'kube-node-lease']);

/** Whether the policy may select workloads outside its own namespace. */
export function isClusterWide({ namespace, spec }: ValidPolicy, tenancy: PolicyTenancy): boolean {
  return spec.scope !== 'Namespace' && isGranted(namespace, tenancy);
}

/** Whether policies of this namespace are trusted with the workloads of others. */
export function isGranted(namespace: string, { operatorNamespace, allowedPolicyNamespaces }: PolicyTenancy): boolean {
  return namespace === operatorNamespace || allowedPolicyNamespaces.has(namespace) || allowedPolicyNamespaces.has('*');
}

/**
 * Why the policy is not about this namespace; undefined when it is. Denied beats allowed (requirement R12.5, Property
 * 27).
 */
export function namespaceMismatch(
  policy: ValidPolicy,
  namespace: Pick<NamespaceRecord, 'name' | 'labels'>,
  tenancy: PolicyTenancy,
): PolicyMismatch | undefined {
  const { matchesNamespace, allow, deny } = policy.spec.selector;
  const { name, labels } = namespace;
  if (name !== policy.namespace && !isClusterWide(policy, tenancy)) return 'scope';
  if (deny.has(name)) return 'namespace-denied';
  if (allow.size > 0 && !allow.has(name)) return 'namespace-not-allowed';
  if (systemNamespaces.has(name) && !allow.has(name)) return 'system-namespace';
  if (matchesNamespace !== undefined && !matchesNamespace(labels)) return 'namespace-labels';
  return undefined;
}

/** Why the policy is not about this workload, though it is about its namespace; undefined when it is. */
export function workloadMismatch(
  { spec }: ValidPolicy,
  { kind, labels }: Pick<SizedWorkload, 'kind' | 'labels'>,
): PolicyMismatch | undefined {
  const { kinds, matchesWorkload } = spec.selector;
  if (!kinds.has(kind)) return 'kind';
  if (matchesWorkload !== undefined && !matchesWorkload(labels)) return 'workload-labels';
  return undefined;
}
