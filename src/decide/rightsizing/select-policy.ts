/**
 * Which policy has the say over a workload: the highest weight, then the first by name, namespace and group. Invalid
 * policies and those being deleted never have it (OptiPod defect B11); a Disabled one does, and so keeps others off.
 */
import { policyGroups } from '../../api/optimization-policy.ts';
import { ascending } from '../../lib/ascending.ts';
import { isValidPolicy, type PolicyRecord, type ValidPolicy } from '../../model/optimization-policy.ts';
import type { NamespaceRecord } from '../../model/records.ts';
import type { SizedWorkload } from '../../model/sizing-records.ts';
import { namespaceMismatch, type PolicyTenancy, workloadMismatch } from './policy-match.ts';

export interface PolicySelection {
  /** Has the say; undefined where no policy matches. May be Disabled. */
  readonly winner: ValidPolicy | undefined;
  /** The winner is Disabled: nothing is recommended, and no other policy takes over. */
  readonly shielded: boolean;
  /** Match too, in the order in which they would take over. */
  readonly others: readonly ValidPolicy[];
  /** Another policy has the winner's weight: the name decided, which is rarely meant. */
  readonly tied: boolean;
}

export interface PolicyIndex {
  /**
   * The policies that take part at all, best first: neither invalid nor being deleted.
   */
  readonly ranked: readonly ValidPolicy[];
  /** @param namespace undefined while it is not known: then policies with conditions on its labels do not match. */
  select(workload: PolicySubject, namespace: NamespaceLabels | undefined): PolicySelection;
}

export type PolicySubject = Pick<SizedWorkload, 'namespace' | 'kind' | 'labels'>;
type NamespaceLabels = Pick<NamespaceRecord, 'name' | 'labels'>;

const NOTHING: PolicySelection = { winner: undefined, shielded: false, others: [], tied: false };

/**
 * Prepares the policies for many selections; build a new one when policies or tenancy change. Conditions on namespaces
 * are evaluated once a namespace, so selecting for every workload of a cluster costs one label match a workload and
 * policy that can concern it.
 */
export function createPolicyIndex(policies: readonly PolicyRecord[], tenancy: PolicyTenancy): PolicyIndex {
  const ranked = policies
    .filter(isValidPolicy)
    .filter(({ deleting }) => !deleting)
    .toSorted(compareRank);
  const known = new Map<string, { readonly labels: NamespaceLabels['labels']; readonly policies: ValidPolicy[] }>();

  const policiesOf = (name: string, namespace: NamespaceLabels | undefined): readonly ValidPolicy[] => {
    if (namespace === undefined) {
      const unlabelled = ranked.filter(({ spec }) => spec.selector.matchesNamespace === undefined);
      return unlabelled.filter((policy) => namespaceMismatch(policy, { name, labels: {} }, tenancy) === undefined);
    }
    const found = known.get(name);
    if (found !== undefined && found.labels === namespace.labels) return found.policies;
    const matching = ranked.filter((policy) => namespaceMismatch(policy, namespace, tenancy) === undefined);
    known.set(name, { labels: namespace.labels, policies: matching });
    return matching;
  };

  return {
    ranked,
    select(workload, namespace) {
      const matching = policiesOf(workload.namespace, namespace).filter(
        (policy) => workloadMismatch(policy, workload) === undefined,
      );
      const [winner, ...others] = matching;
      if (winner === undefined) return NOTHING;
      return {
        winner,
        shielded: winner.spec.mode === 'Disabled',
        others,
        tied: others[0]?.spec.weight === winner.spec.weight,
      };
    },
  };
}

/** {@link createPolicyIndex} for a single question. */
export function selectPolicy(
  workload: PolicySubject,
  namespace: NamespaceLabels | undefined,
  policies: readonly PolicyRecord[],
  tenancy: PolicyTenancy,
): PolicySelection {
  return createPolicyIndex(policies, tenancy).select(workload, namespace);
}

function compareRank(a: ValidPolicy, b: ValidPolicy): number {
  return (
    b.spec.weight - a.spec.weight ||
    ascending(a.name, b.name) ||
    ascending(a.namespace, b.namespace) ||
    policyGroups.indexOf(a.group) - policyGroups.indexOf(b.group)
  );
}
