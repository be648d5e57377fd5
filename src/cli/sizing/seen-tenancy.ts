/** Whose policies may size workloads of others, where the operator's configuration is not at hand. */
import type { PolicyTenancy } from '../../decide/rightsizing/policy-match.ts';
import type { PolicyRecord } from '../../model/optimization-policy.ts';

/**
 * What the operator wrote tells: a policy whose status has workloads of other namespaces was allowed them. Where the
 * operator runs, and what `rightsizing.allowedPolicyNamespaces` says, is in its configuration only.
 */
export function seenTenancy(
  tenancy: PolicyTenancy,
  policies: readonly Pick<PolicyRecord, 'namespace' | 'status'>[],
): PolicyTenancy {
  const trusted = policies
    .filter(({ namespace, status }) => status.workloads?.some((entry) => entry.namespace !== namespace))
    .map(({ namespace }) => namespace);
  return { ...tenancy, allowedPolicyNamespaces: new Set([...tenancy.allowedPolicyNamespaces, ...trusted]) };
}
